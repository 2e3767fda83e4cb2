import assert from 'node:assert/strict';
import { test } from 'node:test';
import { account, type Blow } from './account.ts';
import type { TrackedJob } from './workload.ts';

const job = (over: Partial<TrackedJob>): TrackedJob => ({
  id: 1,
  acceptedAt: 100_000,
  seconds: 10,
  runs: [{ node: 'w-0', from: 110_000, until: 120_000 }],
  restarts: 0,
  end: 'COMPLETED',
  ...over,
});
const deleted = (at: number): Blow => ({ what: 'pod deleted', worker: 'w-0', at });
const judge = (one: TrackedJob, blows: Blow[], kills: number[] = []) => {
  const { jobs_lost, jobs_requeued_by_operator, jobs_lost_by_slurm } = account([one], blows, kills, () => {});
  return { jobs_lost, jobs_requeued_by_operator, jobs_lost_by_slurm };
};
const nothing = { jobs_lost: 0, jobs_requeued_by_operator: 0, jobs_lost_by_slurm: 0 };

test('a job that completed at its first try is nobody’s loss, whatever happened to its worker later', () => {
  assert.deepEqual(judge(job({}), [deleted(115_000)]), nothing);
});

test('a job is ours when the operator struck its worker while it ran there, in whichever of its runs', () => {
  const twice = [
    { node: 'w-0', from: 110_000, until: 120_000 },
    { node: 'w-1', from: 130_000, until: 140_000 },
  ];
  assert.deepEqual(judge(job({ restarts: 1, runs: twice }), [deleted(119_000)]), {
    ...nothing,
    jobs_requeued_by_operator: 1,
  });
  assert.deepEqual(judge(job({ end: 'NODE_FAIL' }), [deleted(119_000)], [111_000]), {
    ...nothing,
    jobs_lost: 1,
  });
  assert.deepEqual(judge(job({ restarts: 1, runs: twice }), [deleted(135_000)]), nothing, 'it had moved on');
  const late: Blow = { what: 'pod deleted', worker: 'w-1', at: 141_000 };
  assert.deepEqual(judge(job({ restarts: 1, runs: twice }), [late]), nothing, 'it had completed');
});

test('what slurmctld had not saved when it was killed is Slurm’s loss; what it had, is not', () => {
  assert.deepEqual(judge(job({ end: 'GONE', runs: [] }), [], [104_000]), {
    ...nothing,
    jobs_lost_by_slurm: 1,
  });
  assert.deepEqual(judge(job({ end: 'GONE', runs: [] }), [], [106_000]), { ...nothing, jobs_lost: 1 });
  assert.deepEqual(judge(job({ end: 'FAILED' }), []), { ...nothing, jobs_lost: 1 }, 'unexplained is lost');
});
