/** `kubectl slurm dashboard`: a link that works once, on loopback, and the rights of the person who runs it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { CliWorld } from '../../testing/cli-world.ts';
import { bundleCli } from '../bundle.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.start();
  // As the bundle carries it.
  const page = [['index.html', Buffer.from('<!doctype html><title>page</title>')]];
  Object.assign(globalThis, { DASHBOARD_PAGE: () => page });
});
after(() => world.stop());

test('the link logs in once; the page reads and changes Slurm as the person, and ends with the command', async () => {
  const stop = new AbortController();
  let printed = '';
  const ended = world.run(['dashboard', '-n', 'hpc'], {
    env: { SLURM_JWT: world.slurm.token('root') },
    signal: stop.signal,
    onOut: (text) => {
      printed += text;
    },
  });
  const link = new URL(await until('a link', () => /http:\S+/.exec(printed)?.[0]));
  assert.equal(link.hostname, '127.0.0.1');
  assert.equal(link.pathname, '/c/hpc/slurm');
  const post = async (path: string, body: object, cookie = '') => {
    const response = await fetch(new URL(path, link), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: link.origin, Cookie: cookie },
      body: JSON.stringify(body),
    });
    return { status: response.status, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' };
  };
  assert.equal(
    (await fetch(new URL('/api/me', link))).status,
    401,
    'a neighbour on this machine sees nothing',
  );
  assert.equal((await post('/api/login', { token: 'a'.repeat(32) })).status, 401);
  const token = link.hash.slice(1);
  const { status, cookie } = await post('/api/login', { token });
  assert.equal(status, 200);
  assert.equal((await post('/api/login', { token })).status, 401, 'the link was used');
  const read = async <T>(path: string) =>
    (await (await fetch(new URL(path, link), { headers: { Cookie: cookie } })).json()) as T;
  await until('the nodes', async () => {
    const { rows } = await read<{ rows: readonly object[] }>('/api/clusters/hpc/slurm/nodes');
    return rows.length === 3;
  });
  const drained = await post(
    '/api/clusters/hpc/slurm/nodes/drain',
    { nodes: ['gpu-1'], reason: 'fan' },
    cookie,
  );
  assert.equal(drained.status, 200);
  assert.match(world.slurm.cluster.node('gpu-1').reason, /^fan/);
  stop.abort();
  await ended;
  await assert.rejects(fetch(link), 'nothing listens any more');
});

test('the bundle carries the page', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kubectl-slurm-page-'));
  const plugin = join(directory, 'kubectl-slurm');
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(plugin, (await bundleCli()).content);
  await writeFile(kubeconfig, world.server.kubeconfig(), { mode: 0o600 });
  const child = spawn(process.execPath, [plugin, 'dashboard', '-n', 'hpc'], {
    env: { PATH: process.env['PATH'], KUBECONFIG: kubeconfig, SLURM_JWT: world.slurm.token('root') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const link = new URL(await until('a link', () => /http:\S+/.exec(printed)?.[0]));
    const read = async (path: string) => (await fetch(new URL(path, link))).text();
    assert.match(await read('/'), /^<!doctype html>/i);
    assert.match(await read('/main.js'), /preact|createElement|addEventListener/);
    assert.match(await read('/style.css'), /\{/);
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGINT');
    await ended;
    await rm(directory, { recursive: true, force: true });
  }
});
