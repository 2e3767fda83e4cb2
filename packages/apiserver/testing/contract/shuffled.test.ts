import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shuffled } from './shuffled.ts';

const byValue = (a: number, b: number) => a - b;

test('keeps every item, and the order follows from the seed', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.nat(), (items, seed) => {
      const order = shuffled(items, seed);
      assert.deepEqual(order, shuffled(items, seed));
      assert.deepEqual(order.toSorted(byValue), items.toSorted(byValue));
    }),
  );
});

test('orders change with the seed', () => {
  const items = Array.from({ length: 20 }, (_, index) => index);
  assert.notDeepEqual(shuffled(items, 1), shuffled(items, 2));
});
