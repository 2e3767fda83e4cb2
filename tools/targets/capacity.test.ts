import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capacityFor, Load } from './capacity.ts';

test('a quiet machine of two cores takes one that computes beside four that wait', () => {
  assert.deepEqual(capacityFor(2, 1), { computing: 1, waiting: 4, preparing: 2 });
});

test('the more crowded the machine, the fewer; never none', () => {
  for (const cores of [1, 2, 4, 16]) {
    let before = capacityFor(cores, 0);
    for (let load = 0; load < 50; load += 0.5) {
      const capacity = capacityFor(cores, load);
      for (const lane of ['computing', 'waiting', 'preparing'] as const) {
        assert.ok(
          capacity[lane] >= 1 && capacity[lane] <= before[lane],
          `${lane} of ${cores} cores at ${load}`,
        );
      }
      before = capacity;
    }
  }
});

test('the average follows the load, and forgets a moment', () => {
  let running = 0;
  const load = new Load(2, () => running);
  load.stop();
  running = 20;
  load.sample();
  assert.ok(load.perCore < 1, 'one look proves nothing');
  for (let count = 0; count < 60; count += 1) load.sample();
  assert.ok(load.perCore > 9);
  running = 0;
  for (let count = 0; count < 60; count += 1) load.sample();
  assert.ok(load.perCore < 1);
});
