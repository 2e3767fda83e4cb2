import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  jobEnds,
  jobLaunches,
  jobStarts,
  pairsPutBack,
  refusedJobs,
  slurmctldEndings,
} from './slurmctld-log.ts';

test('every start of a job is found, of both schedulers, of parts of jobs, and from the workers', () => {
  const log = [
    '2026-11-16T05:29:22.006000000Z stderr F [2026-11-16T05:29:22.006] sched: Allocate JobId=147 NodeList=w-1 #CPUs=1 Partition=all',
    '2026-11-16T05:29:30.500000000Z stderr F [2026-11-16T05:29:30.500] sched/backfill: _start_job: Started JobId=147 in all on w-0',
    '2026-11-16T05:29:31.000000000Z stderr F [2026-11-16T05:29:31.000] Recovered JobId=148 Assoc=0',
    '2026-11-16T05:29:32.000000000Z stderr F slurmctld: sched/backfill: _start_job: Started JobId=51_1(60) in all on a-40',
    '2026-11-16T05:29:33.000000000Z stderr F [2026-11-16T05:29:33.000] Launching batch JobId=149 SLUID=s58SM7T3JSW600 for UID 401',
    '2026-11-16T05:29:34.000000000Z stderr F slurmd-a-40: Launching batch job 150 for UID 401',
  ].join('\n');
  const at = Date.UTC(2026, 10, 16, 5, 29);
  assert.deepEqual(
    jobStarts(log),
    new Map([
      [147, [at + 22_006, at + 30_500]],
      [60, [at + 32_000]],
      [149, [at + 33_000]],
      [150, [at + 34_000]],
    ]),
  );
});

test('every completion that a worker reported is found, of both releases', () => {
  const log = [
    '2026-11-16T05:29:22.006000000Z stderr F [2026-11-16T05:29:22.006] _job_complete: JobId=1 WEXITSTATUS 0',
    '2026-11-16T05:29:22.007000000Z stderr F [2026-11-16T05:29:22.007] _job_complete: JobId=1 done',
    '2026-11-16T05:29:23.000000000Z stderr F slurmctld: _job_complete: JobId=2 WEXITSTATUS 0',
    '2026-11-16T05:29:24.000000000Z stderr F slurmctld: _job_complete: JobId=10_0(15) WEXITSTATUS 0',
    '2026-11-16T05:29:25.000000000Z stderr F slurmctld: _job_complete: JobId=70+1(71) WEXITSTATUS 0',
    '2026-11-16T05:29:26.000000000Z stderr F slurmctld: _job_complete: JobId=72 WTERMSIG 1',
    '2026-11-16T05:29:27.000000000Z stderr F [2026-11-16T05:29:27.000] Time limit exhausted for JobId=73',
    '2026-11-16T05:29:26.000000000Z stderr F slurmctld: _job_complete: JobId=72 done',
  ].join('\n');
  const at = Date.UTC(2026, 10, 16, 5, 29);
  assert.deepEqual(
    jobEnds(log),
    new Map([
      [1, [at + 22_006]],
      [2, [at + 23_000]],
      [15, [at + 24_000]],
      [71, [at + 25_000]],
      [73, [at + 27_000]],
    ]),
  );
});

test('what a worker began, and when slurmctld was told to end or to read its files again, are found', () => {
  const at = Date.UTC(2026, 10, 16, 5, 29);
  const worker = [
    '2026-11-16T05:29:33.000000000Z stderr F [2026-11-16T05:29:33.000] Launching batch JobId=51_1(60) SLUID=s58SM7T3JSW600 for UID 401',
    '2026-11-16T05:29:34.000000000Z stderr F slurmd-a-40: Launching batch job 150 for UID 401',
  ].join('\n');
  assert.deepEqual(
    jobLaunches(worker),
    new Map([
      [60, [at + 33_000]],
      [150, [at + 34_000]],
    ]),
  );
  const log = [
    '2026-11-16T05:29:35.000000000Z stderr F [2026-11-16T05:29:35.000] Reconfigure signal (SIGHUP) received',
    '2026-11-16T05:29:36.000000000Z stderr F slurmctld: Terminate signal SIGTERM received',
  ].join('\n');
  assert.deepEqual(slurmctldEndings(log), [at + 35_000, at + 36_000]);
});

test('a heterogeneous job that Slurm put back is found by the number of its first part', () => {
  const log =
    '2026-11-18T00:23:38.692000000Z stderr F slurmctld: sched/backfill: _het_job_kill_now: Deallocate JobId=55+0(55) due to hetjob start failure';
  assert.deepEqual(pairsPutBack(log), new Map([[55, [Date.UTC(2026, 10, 18, 0, 23, 38, 692)]]]));
});

test('a job that was refused when it was submitted is found, one that was accepted is not', () => {
  const at = '2026-11-18T00:25:27.180000000Z stderr F slurmctld:';
  const log = [
    `${at} _slurm_rpc_submit_batch_job: JobId=115 InitPrio=1 usec=477`,
    `${at} _build_node_list: No nodes satisfy JobId=115 requirements in partition d`,
    `${at} _build_node_list: No nodes satisfy JobId=116 requirements in partition d`,
  ].join('\n');
  assert.deepEqual([...refusedJobs(log).keys()], [116]);
});
