import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareSimulations } from '../../../../testing/compare-simulation.ts';

const runs = Number(process.env['LAWS_RUNS'] ?? 150);
const seed = Number(process.env['SEED'] ?? 7);

test(`${runs} random changes: the simulation drains, deletes and creates what the world sees, at the same time`, () => {
  assert.equal(compareSimulations(runs, seed), runs);
});
