/** The way to binaries that are given, walked with programs that play them: who is started with what, and ended how. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { startAssets } from './assets-backend.ts';
import { Caller } from './backend.ts';

const fake = join(import.meta.dirname, '../../testdata/fake-control-plane.ts');

/** A directory of programs; each is the fake one unless a script is given for it. */
async function assets(
  t: TestContext,
  scripts: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'apiserver-assets-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  for (const [name, script] of Object.entries(scripts)) {
    const text = script ?? `exec '${process.execPath}' '${fake}' '${directory}' ${name} "$@"`;
    await writeFile(join(directory, name), `#!/bin/sh\n${text}\n`, { mode: 0o700 });
  }
  return directory;
}

test('etcd, kube-apiserver and kube-controller-manager are started so that they find each other, and all end', async (t) => {
  const directory = await assets(t, {
    etcd: undefined,
    'kube-apiserver': undefined,
    'kube-controller-manager': undefined,
  });
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  const { backend, startControllers, stop } = await startAssets(directory);
  assert.equal(backend.controllers, false, 'the API server is alone at first');
  assert.equal(existsSync(join(directory, 'kube-controller-manager.args')), false);
  assert.equal(startControllers()?.controllers, true);
  const caller = new Caller(backend);
  const answer = await caller.call({ method: 'GET', path: '/readyz' });
  caller.close();
  assert.deepEqual([answer.status, answer.text], [200, 'kube-apiserver']);
  await until('the controller manager reaches the server with its kubeconfig', () =>
    existsSync(join(directory, 'kube-controller-manager.reached')),
  );
  assert.equal(read('kube-controller-manager.reached'), '200');

  const args = JSON.parse(read('kube-apiserver.args')) as string[];
  const [ca = ''] = args.filter((arg) => arg.startsWith('--client-ca-file='));
  const made = dirname(ca.slice('--client-ca-file='.length));
  assert.deepEqual(
    (await readdir(made)).filter((name) => /\.(?:key|crt|pub)$|^kubeconfig$/.test(name)).toSorted(),
    ['ca.crt', 'kubeconfig', 'sa.key', 'sa.pub', 'serving.crt', 'serving.key'],
  );
  await stop();
  for (const program of ['etcd', 'kube-apiserver', 'kube-controller-manager'])
    assert.equal(read(`${program}.ended`), 'SIGTERM');
  assert.equal(existsSync(made), false, 'keys do not stay behind');
});

test('without a controller manager there are no controllers, and only those tiers are left out', async (t) => {
  const { backend, startControllers, stop } = await startAssets(
    await assets(t, { etcd: undefined, 'kube-apiserver': undefined }),
  );
  assert.equal(startControllers(), undefined);
  await stop();
  assert.equal(backend.controllers, false);
});

test('a program that cannot start is named at once, with what it said', async (t) => {
  const directory = await assets(t, {
    etcd: undefined,
    'kube-apiserver':
      'until [ -e "$(dirname "$0")/etcd.args" ]; do sleep 0.05; done; echo "unknown flag: --cert-dir" >&2; exit 3',
  });
  await assert.rejects(startAssets(directory), /kube-apiserver ended with 3: unknown flag: --cert-dir$/);
  assert.ok(existsSync(join(directory, 'etcd.ended')), 'the others are ended too');
});

test('a directory without a server is refused by name', async (t) => {
  const directory = await assets(t, { etcd: undefined });
  await assert.rejects(startAssets(directory), /holds no kube-apiserver: give a directory that does/);
});
