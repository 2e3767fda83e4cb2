import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, count, memory, percent, span, timeLimit } from './format.ts';

test('spans have two units at most', () => {
  for (const [ms, text] of [
    [0, '0 s'],
    [-5, '0 s'],
    [59_400, '59 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [90_061_000, '1 d 1 h'],
  ] as const)
    assert.equal(span(ms), text);
});

test('limits, memory and shares', () => {
  assert.deepEqual([timeLimit(-1), timeLimit(0), timeLimit(90)], ['no limit', '', '1 h 30 min']);
  assert.deepEqual(
    [memory(512), memory(1536), memory(262_144), memory(2_097_152)],
    ['512 MB', '1.5 GB', '256 GB', '2 TB'],
  );
  assert.deepEqual([percent(1, 3), percent(0, 0)], ['33 %', '–']);
  assert.deepEqual([count(1, 'node'), count(5000, 'node')], ['1 node', '5,000 nodes']);
});

test('a time that is not known is empty', () => {
  assert.equal(clock(0, 1), '');
});
