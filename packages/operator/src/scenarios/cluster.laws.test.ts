/** The laws of configuration and of several NodeSets together, on a few random histories of a whole cluster; the integration tier runs more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClusterLaws } from '../../testing/laws/check-cluster-laws.ts';

test('random histories of a cluster lose no job, come to rest, and rest where a fresh install does', async () => {
  assert.equal((await checkClusterLaws({ runs: 8, seed: 1 })).histories, 8);
});
