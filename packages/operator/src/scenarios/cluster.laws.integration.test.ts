/** The laws on more histories than a unit test has time for. `LAWS_RUNS` and `SEED` choose others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClusterLaws } from '../../testing/laws/check-cluster-laws.ts';

const runs = Number(process.env['LAWS_RUNS'] ?? 40);
const seed = Number(process.env['SEED'] ?? 1);

test(`${runs} random histories of a cluster keep the laws`, async () => {
  const { histories, seconds } = await checkClusterLaws({ runs, seed });
  console.log(`${histories} histories, ${(histories / seconds).toFixed(1)} per second`);
  assert.equal(histories, runs);
});

test('clusters that are uninstalled and installed again with their state keep the laws', async () => {
  const often = [
    'uninstall, and install again with the kept state',
    'create a NodeSet',
    'submit a job',
    'the cluster moves on',
  ];
  assert.equal((await checkClusterLaws({ runs: 20, seed, often })).histories, 20);
});
