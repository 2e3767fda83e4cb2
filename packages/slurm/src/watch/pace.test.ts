import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pace } from './pace.ts';

const subject = pace({ idleBytesPerSecond: 200_000 });

test('while a caller waits, lists take at most a third of the time', () => {
  assert.equal(subject.afterList(0, 'changes', 5), 200, '"unchanged"');
  assert.equal(subject.afterList(256_000, 'changes', 20), 200, 'a hundred nodes');
  assert.equal(subject.afterList(2_560_000, 'changes', 150), 450, 'a thousand');
  assert.equal(subject.afterList(12_800_000, 'changes', 700), 2100, 'five thousand');
});

test('where only the end of jobs is waited for, lists are rarer', () => {
  assert.equal(subject.afterList(0, 'jobs', 5), 200);
  assert.equal(subject.afterList(12_800_000, 'jobs', 700), 2_800);
  assert.equal(subject.afterList(12_800_000, 'jobs', 5_000), 15_000, 'bounded');
});

test('when idle, the interval grows with the size of the list', () => {
  assert.equal(subject.afterList(0, false, 5), 5000, 'unchanged');
  assert.equal(subject.afterList(8000, false, 5), 5000, 'three nodes');
  assert.equal(subject.afterList(2_560_000, false, 150), 12_800, 'a thousand nodes');
  assert.equal(subject.afterList(12_800_000, false, 700), 60_000, 'five thousand nodes');
});

test('property: a failure is never retried at once, and intervals are bounded', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.constantFrom('changes' as const, 'jobs' as const, false as const),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, waiting, random) => {
        const rest = subject.afterFailure(failures, waiting, random);
        assert.ok(rest >= 750 && rest <= 37_500);
        assert.ok(waiting === false || rest <= 6250);
      },
    ),
  );
});
