import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveMaxUnavailable } from './resolve-max-unavailable.ts';

test('maxUnavailable rounds up and never below one', () => {
  for (const [value, desired, expected] of [
    ['25%', 10, 3],
    ['1%', 5, 1],
    [2, 10, 2],
    ['100%', 4, 4],
    ['25%', 0, 1],
    ['x', 9, 1],
  ] as const) {
    assert.equal(resolveMaxUnavailable(value, desired), expected, `${value} of ${desired}`);
  }
});
