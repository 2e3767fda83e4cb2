import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobKey } from '../model/job.ts';
import { readJob, readJobState } from './read-job.ts';

const state = ['PENDING'];

for (const [what, listed, job_id] of [
  ['a job', { job_id: 42 }, 42],
  ['the waiting part of an array', { job_id: 43, array_job_id: { set: true, number: 43 } }, '43_[1-5,8]'],
  [
    'the waiting part of a large array',
    { job_id: 43, array_job_id: { set: true, number: 43 } },
    '43_[1-1000]',
  ],
  ['a task of an array', { job_id: 44, array_task_id: { set: true, number: 7 } }, '44_7'],
  ['a component of a heterogeneous job', { job_id: 55 }, '55+1'],
] as const)
  test(`${what} has the same key in the list of states as in the list of jobs`, () => {
    assert.equal(readJobState({ job_id, state }).id, jobKey(readJob({ ...listed, job_state: state })));
  });
