import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { awaitEnd, checkClusterName, clusterPaths, startTimeOf } from './cluster-directory.ts';

test('a name that could lead anywhere else has no paths', () => {
  for (const name of ['', '.', '..', '../..', 'a/b', '/etc', 'Big', 'a b', '-a', 'a-', 'x'.repeat(33)])
    assert.throws(
      () => clusterPaths(name),
      /name is ".*": use up to 32 small letters/s,
      JSON.stringify(name),
    );
  for (const name of ['a', 'local', 'team-7', 'x'.repeat(32)]) checkClusterName(name);
});

test('everything of a cluster is below its own directory', () => {
  const { directory, ...paths } = clusterPaths('local');
  assert.ok(directory.endsWith('/slurm-operator/localcluster/local'));
  for (const path of Object.values(paths)) assert.ok(path.startsWith(`${directory}/`), path);
});

test('the end of a process is waited for, and not that of another with its number', async () => {
  const child = spawn('sleep', ['60']);
  const pid = child.pid ?? 0;
  const startTime = await startTimeOf(pid);
  assert.equal(await awaitEnd({ pid, startTime }, 200), false, 'it runs');
  assert.equal(await awaitEnd({ pid, startTime: '1' }, 60_000), true, 'that one ended long ago');
  const ended = awaitEnd({ pid, startTime }, 60_000);
  child.kill('SIGKILL');
  assert.equal(await ended, true);
});
