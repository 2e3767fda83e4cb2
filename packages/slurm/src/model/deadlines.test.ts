import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJob } from '../adapters/read-job.ts';
import { jobDeadline, nodeDeadlines } from './deadlines.ts';

const job = (
  id: number,
  nodes: string,
  state: string,
  start: number,
  minutes: number | 'infinite' | 'unset',
) =>
  readJob({
    job_id: id,
    nodes,
    job_state: state.split('+'),
    start_time: { set: start > 0, number: start },
    time_limit:
      minutes === 'infinite'
        ? { set: false, infinite: true, number: 0 }
        : { set: minutes !== 'unset', number: Number(minutes) || 0 },
  });

test('a running job ends at its start plus its limit', () => {
  assert.equal(jobDeadline(job(1, 'n1', 'RUNNING', 1000, 5)), 1_300_000);
  assert.equal(jobDeadline(job(1, 'n1', 'RUNNING', 1000, 'infinite')), 'infinite');
  assert.equal(jobDeadline(job(1, 'n1', 'RUNNING', 1000, 'unset')), 'unknown');
  assert.equal(jobDeadline(job(1, 'n1', 'RUNNING', 0, 5)), 'unknown');
  assert.equal(jobDeadline(job(1, 'n1', 'SUSPENDED', 1000, 5)), 'unknown');
  assert.equal(jobDeadline(job(1, '', 'PENDING', 1000, 5)), undefined);
  assert.equal(jobDeadline(job(1, 'n1', 'COMPLETED', 1000, 5)), undefined);
  assert.equal(
    jobDeadline(job(1, 'n1', 'COMPLETED+COMPLETING', 1000, 5)),
    1_300_000,
    'its epilog holds the nodes',
  );
});

test('a node is free when the last of its jobs is over', () => {
  const deadlines = nodeDeadlines([
    job(1, 'n[1-3]', 'RUNNING', 1000, 5),
    job(2, 'n2', 'RUNNING', 1000, 10),
    job(3, 'n3', 'SUSPENDED', 1000, 'infinite'),
    job(4, 'n4', 'RUNNING', 0, 5),
    job(5, 'n[3-4]', 'RUNNING', 1000, 'infinite'),
    job(6, 'n9', 'COMPLETED', 1000, 5),
  ]);
  assert.deepEqual(Object.fromEntries(deadlines), {
    n1: 1_300_000,
    n2: 1_600_000,
    n3: 'infinite',
    n4: 'unknown',
  });
});
