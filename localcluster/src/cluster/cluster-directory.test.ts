import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClusterName, clusterPaths } from './cluster-directory.ts';

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
