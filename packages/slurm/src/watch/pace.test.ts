import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pace } from './pace.ts';

const subject = pace({ idleBytesPerSecond: 200_000 });

test('about a second while a caller waits, for any size of the list', () => {
  assert.equal(subject.afterList(0, true), 1000);
  assert.equal(subject.afterList(12_800_000, true), 1000);
});

test('when idle, the interval grows with the size of the list', () => {
  assert.equal(subject.afterList(0, false), 5000, 'unchanged');
  assert.equal(subject.afterList(8000, false), 5000, 'three nodes');
  assert.equal(subject.afterList(2_560_000, false), 12_800, 'a thousand nodes');
  assert.equal(subject.afterList(12_800_000, false), 60_000, 'five thousand nodes');
});

test('property: a failure is never retried at once, and intervals are bounded', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.boolean(),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, waiting, random) => {
        const rest = subject.afterFailure(failures, waiting, random);
        assert.ok(rest >= 750 && rest <= 37_500);
        assert.ok(!waiting || rest <= 6250);
      },
    ),
  );
});
