/** Laws A1 to A9 on more histories than a unit test has time for. `LAWS_RUNS` and `SEED` choose others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAutoscaleLaws } from '../../../../testing/autoscale-history.ts';

const runs = Number(process.env['LAWS_RUNS'] ?? 600);
const seed = Number(process.env['SEED'] ?? 1);

test(`${runs} random histories keep the laws of autoscaling`, () => {
  assert.equal(checkAutoscaleLaws(runs, seed), runs);
});
