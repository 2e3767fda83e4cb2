/** The laws of configuration and of several NodeSets together, on random histories of a whole cluster in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClusterLaws } from '../../testing/laws/check-cluster-laws.ts';

test('random histories of a cluster lose no job, come to rest, and rest where a fresh install does', async () => {
  assert.equal((await checkClusterLaws({ runs: 25, seed: 1 })).histories, 25);
});
