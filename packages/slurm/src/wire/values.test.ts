import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitOf, listOf, numberOf, timeOf, wireNumber } from './values.ts';

test('a number is defined only if it is set and finite', () => {
  assert.equal(numberOf({ set: true, infinite: false, number: 5 }), 5);
  assert.equal(numberOf({ set: false, infinite: false, number: 5 }), undefined);
  assert.equal(numberOf({ set: false, infinite: true, number: 0 }), undefined);
  assert.equal(numberOf(7), 7);
  assert.equal(numberOf(undefined), undefined);
  assert.equal(limitOf({ set: false, infinite: true, number: 0 }), 'infinite');
  assert.equal(limitOf({ set: true, infinite: false, number: 0 }), 0);
});

test('times are milliseconds; zero, NO_VAL and INFINITE are undefined', () => {
  assert.equal(timeOf({ set: true, number: 1_794_725_907 }), 1_794_725_907_000);
  for (const never of [0, 4_294_967_294, 4_294_967_295]) {
    assert.equal(timeOf({ set: true, number: never }), undefined);
    assert.equal(timeOf(never), undefined);
  }
});

test('reads lists and comma-separated strings', () => {
  assert.deepEqual(listOf(['a', 'b']), ['a', 'b']);
  assert.deepEqual(listOf('a,b'), ['a', 'b']);
  assert.deepEqual(listOf(''), []);
  assert.deepEqual(listOf(undefined), []);
});

test('what is written can be read back', () => {
  for (const value of [0, 1, 90, 'infinite'] as const) assert.equal(limitOf(wireNumber(value)), value);
});
