import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidInput } from '../errors.ts';
import { formatTimeLimit, parseTimeLimit } from './time-limit.ts';

const cases: readonly [number | string, number | 'infinite'][] = [
  [0, 0],
  [90, 90],
  ['90', 90],
  ['10:30', 11],
  ['00:10:00', 10],
  ['01:00:00', 60],
  ['1:00:01', 61],
  ['2-0', 2880],
  ['2-01:30', 2970],
  ['1-00:00:00', 1440],
  ['infinite', 'infinite'],
  ['UNLIMITED', 'infinite'],
];
for (const [text, minutes] of cases)
  test(`${text} is ${minutes} minutes`, () => assert.equal(parseTimeLimit(text), minutes));

for (const bad of ['', '1h', '-5', '1:60:00', '1:00:60', '1-1-1', '1:2:3:4', 1.5, -1, Number.NaN])
  test(`"${bad}" is refused`, () => assert.throws(() => parseTimeLimit(bad), InvalidInput));

test('property: parsing a formatted limit returns it', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1_000_000 }), (minutes) =>
      assert.equal(parseTimeLimit(formatTimeLimit(minutes)), minutes),
    ),
  );
  assert.equal(parseTimeLimit(formatTimeLimit('infinite')), 'infinite');
});
