/** The server as a program: says when it is ready, hands out a kubeconfig, and keeps its state when told to end. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Caller } from '../testing/contract/backend.ts';
import { givenCluster } from '../testing/contract/given-cluster.ts';

const main = join(import.meta.dirname, 'main.ts');

async function start(...args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.includes('ready on https://127.0.0.1:')) resolve();
  });
  child.once('exit', (code) => reject(new Error(`ended with ${code} before it was ready`)));
  await promise;
  return child;
}

async function end(child: ChildProcess): Promise<unknown> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  return (await exit)[0];
}

test('two runs on one data directory are one server', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'apiserver-main-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const kubeconfig = join(directory, 'kubeconfig');
  const args = ['--data', join(directory, 'data'), '--kubeconfig', kubeconfig];
  const path = '/api/v1/namespaces/default/configmaps';

  const first = await start(...args);
  const caller = new Caller(givenCluster(kubeconfig));
  const made = await caller.call({ method: 'POST', path, body: { metadata: { name: 'a' } } });
  caller.close();
  assert.equal(made.status, 201);
  assert.equal(await end(first), 0);

  const second = await start(...args);
  const again = new Caller(givenCluster(kubeconfig));
  const read = await again.call({ method: 'GET', path: `${path}/a` });
  again.close();
  assert.equal(await end(second), 0);
  assert.deepEqual(JSON.parse(read.text), JSON.parse(made.text));
});

test('a wrong option is refused with the usage', async () => {
  const child = spawn(process.execPath, [main, '--port', 'x'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  assert.equal(code, 2);
  assert.match(said, /--port x is no port: .*\nusage: /);
});
