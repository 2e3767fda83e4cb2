import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTrue, wholeNumber } from './query-values.ts';

test('only false and 0 are false', () => {
  assert.deepEqual(['true', '1', '', 'maybe', 'false', 'False', '0', null].map(isTrue), [
    true,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a whole number is read, a word or one beyond int64 is a 400', () => {
  const query = new URLSearchParams({ a: '5', b: '-1', c: 'abc', d: '9223372036854775808' });
  assert.equal(wholeNumber(query, 'a'), 5);
  assert.equal(wholeNumber(query, 'b'), -1);
  assert.equal(wholeNumber(query, 'none'), 0);
  assert.throws(() => wholeNumber(query, 'c'), /strconv.ParseInt: parsing "abc": invalid syntax/);
  assert.throws(() => wholeNumber(query, 'd'), /value out of range/);
});
