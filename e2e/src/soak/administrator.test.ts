import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenPairs } from './administrator.ts';
import type { TrackedJob } from './workload.ts';

const job = (id: number, given: Partial<TrackedJob>): TrackedJob => ({
  id,
  kind: 'array',
  single: false,
  acceptedAt: 0,
  seconds: 5,
  runs: [],
  restarts: 0,
  state: 'PENDING',
  partition: 'all',
  end: undefined,
  ...given,
});
const run = { node: 'a-0', from: 1, until: 2, cutBy: 3 };
const pair = { kind: 'pair' } as const;

for (const { reason, jobs, expected } of [
  {
    reason: 'the second part runs on while the first waits again, as in 26.05',
    jobs: [job(5, { ...pair, runs: [run] }), job(6, { state: 'RUNNING', runs: [run] })],
    expected: [5],
  },
  {
    reason: 'the second part has failed while the first waits again, as in 24.11',
    jobs: [job(5, { ...pair, runs: [run] }), job(6, { state: 'FAILED', end: 'FAILED', runs: [run] })],
    expected: [5],
  },
  {
    reason: 'the first part runs on while the second waits again',
    jobs: [job(5, { ...pair, state: 'RUNNING', runs: [run] }), job(6, { runs: [run] })],
    expected: [5],
  },
  {
    reason: 'both parts were put back',
    jobs: [job(5, { ...pair, runs: [run] }), job(6, { runs: [run] })],
    expected: [],
  },
  {
    reason: 'the first part has not been seen to run yet',
    jobs: [job(5, pair), job(6, { state: 'RUNNING', runs: [run] })],
    expected: [],
  },
  {
    reason: 'two jobs that are no pair',
    jobs: [job(5, { runs: [run] }), job(6, { state: 'RUNNING' })],
    expected: [],
  },
])
  test(`heterogeneous jobs to cancel: ${reason}`, () => assert.deepEqual(brokenPairs(jobs), expected));
