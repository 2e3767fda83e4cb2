import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf, slowerThan } from './compare-figures.ts';

const keys = (before: Record<string, number>, now: Record<string, number>) =>
  slowerThan(before, now).map(({ key }) => key);

test('a count that grew by more than a fifth is reported on any machine', () => {
  assert.deepEqual(keys({ writes_per_worker_100: 3 }, { writes_per_worker_100: 3.7 }), [
    'writes_per_worker_100',
  ]);
  assert.deepEqual(keys({ writes_per_worker_100: 3 }, { writes_per_worker_100: 3.5 }), []);
  assert.deepEqual(keys({ scale_in_slurm_mb_5000: 100 }, { scale_in_slurm_mb_5000: 50 }), []);
});

test('a duration counts in proportion to the floor of its run', () => {
  const before = { rollout_seconds_1000: 12, raw_create_seconds_1000: 2.5 };
  assert.deepEqual(
    keys(before, { rollout_seconds_1000: 24, raw_create_seconds_1000: 5 }),
    [],
    'half as fast a machine',
  );
  assert.deepEqual(keys(before, { rollout_seconds_1000: 24, raw_create_seconds_1000: 2.5 }), [
    'rollout_seconds_1000',
  ]);
  assert.deepEqual(
    keys(before, { rollout_seconds_1000: 12, raw_create_seconds_1000: 1 }),
    [],
    'a faster floor alone makes nothing slower',
  );
});

test('a duration without a floor is compared as it is; what describes the run is not', () => {
  assert.deepEqual(keys({ ready_seconds: 1 }, { ready_seconds: 1.5 }), ['ready_seconds']);
  assert.deepEqual(keys({ load_average_most: 1 }, { load_average_most: 20 }), []);
});

test('the figures are those of the last line', () => {
  const output = 'a table\n{"bench":"x","a_seconds":1.5,"a_seconds_met":true}\n';
  assert.deepEqual(figuresOf(output), { bench: 'x', figures: { a_seconds: 1.5 } });
  assert.equal(figuresOf('nothing\n'), undefined);
});
