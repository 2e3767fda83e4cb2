import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pace, type Waiting } from './pace.ts';

const subject = pace({ idleBytesPerSecond: 200_000 });
const after = (bytes: number, waiting: Waiting, tookMs: number, requests = 1) =>
  subject.afterList({ bytes, tookMs, requests }, waiting);

test('while a caller waits, lists take at most a third of the time', () => {
  assert.equal(after(0, 'changes', 5), 200, '"unchanged"');
  assert.equal(after(256_000, 'changes', 20), 200, 'a hundred nodes');
  assert.equal(after(2_560_000, 'changes', 150), 450, 'a thousand');
  assert.equal(after(12_800_000, 'changes', 700), 2100, 'five thousand');
});

test('a small list that took long has waited for something else than Slurm: the next one comes soon', () => {
  assert.equal(after(30_000, 'changes', 850), 225, 'ten nodes on a machine without a free processor');
  assert.equal(after(0, 'changes', 2_000), 200, '"unchanged"');
  assert.equal(after(0, 'changes', 800, 65), 2_400, 'with the details of 64 jobs');
  assert.equal(after(2_560_000, 'changes', 1_200), 3_600, 'a thousand nodes on a slow machine');
});

test('where only the end of jobs is waited for, lists are rarer', () => {
  assert.equal(after(0, 'jobs', 5), 200);
  assert.equal(after(12_800_000, 'jobs', 700), 2_800);
  assert.equal(after(12_800_000, 'jobs', 5_000), 15_000, 'bounded');
});

test('when idle, the interval grows with the size of the list', () => {
  assert.equal(after(0, false, 5), 5000, 'unchanged');
  assert.equal(after(8000, false, 5), 5000, 'three nodes');
  assert.equal(after(2_560_000, false, 150), 12_800, 'a thousand nodes');
  assert.equal(after(12_800_000, false, 700), 60_000, 'five thousand nodes');
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
