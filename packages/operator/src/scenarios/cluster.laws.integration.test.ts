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
