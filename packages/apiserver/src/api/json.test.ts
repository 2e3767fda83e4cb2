import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseExact, stringifyExact } from './json.ts';

test('whole numbers within int64 keep every digit, others are floats', () => {
  const text =
    '{"big":9007199254740993,"most":9223372036854775807,"least":-9223372036854775808,"list":[12345678901234567,1]}';
  assert.equal(stringifyExact(parseExact(text)), text);
  assert.equal(
    stringifyExact(parseExact('[9223372036854775808,1e21,1.0,0.1]')),
    '[9223372036854776000,1e+21,1,0.1]',
  );
});

test('a long number inside a text stays a text', () => {
  assert.deepEqual(parseExact('{"a":"x: 9007199254740993"}'), { a: 'x: 9007199254740993' });
});

test('reading and writing are inverse for any int64 anywhere', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })), (numbers) => {
      const text = `{"a":[${numbers.join(',')}]}`;
      assert.equal(stringifyExact(parseExact(text)), text);
    }),
  );
});
