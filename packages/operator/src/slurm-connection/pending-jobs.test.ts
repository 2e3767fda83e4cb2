import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SlurmClient, type SlurmJob, Unavailable } from '@slurm-operator/slurm';
import { PendingJobs } from './pending-jobs.ts';

const job = (id: number, over: Partial<SlurmJob> = {}) =>
  ({ id, state: ['PENDING'], requiredNodes: '', constraints: '', ...over }) as SlurmJob;

/** Slurm with these jobs, and what it was asked. */
function slurm(jobs: SlurmJob[]) {
  const asked: string[] = [];
  const states = () => {
    asked.push('states');
    return Promise.resolve({ items: jobs.map(({ id, state }) => ({ id: String(id), state })) });
  };
  const list = () => {
    asked.push('list');
    return Promise.resolve({ items: jobs });
  };
  const get = (id: number | string) => {
    asked.push(`get ${id}`);
    return Promise.resolve(jobs.find((one) => String(one.id) === id));
  };
  const client = { jobs: { states, list, get } } as unknown as Pick<SlurmClient, 'jobs'>;
  return { asked, client };
}

const signal = new AbortController().signal;

test('nodes and features that pending jobs ask for are read from their lists', async () => {
  const { client } = slurm([
    job(1, { requiredNodes: 'w-[0-1]' }),
    job(2, { constraints: '[rack1*2&gpu|ib]' }),
    job(3),
    job(4, { state: ['RUNNING'], requiredNodes: 'w-9' }),
  ]);
  assert.deepEqual(await new PendingJobs(client, () => 0).needs(signal), {
    kind: 'known',
    jobs: [
      { id: '1', nodes: ['w-0', 'w-1'], features: [] },
      { id: '2', nodes: [], features: ['rack1', '2', 'gpu', 'ib'] },
    ],
  });
});

test('only new jobs are read after the first list, and all of them again after a minute', async () => {
  const jobs = [job(1)];
  const { asked, client } = slurm(jobs);
  let now = 0;
  const pending = new PendingJobs(client, () => now);
  await pending.needs(signal);
  await pending.needs(signal);
  jobs.push(job(2, { requiredNodes: 'w-0' }));
  const known = await pending.needs(signal);
  assert.equal(known.kind === 'known' && known.jobs[0]?.id, '2');
  now = 60_000;
  await pending.needs(signal);
  assert.deepEqual(asked, ['states', 'list', 'states', 'states', 'get 2', 'states', 'list']);
});

test('a job that began between the two lists and is put back into the queue is not forgotten', async () => {
  const jobs = [job(1, { requiredNodes: 'w-0' })];
  const { client } = slurm(jobs);
  const { states } = client.jobs;
  const racing = async () => {
    const answer = await states();
    jobs[0] = job(1, { requiredNodes: 'w-0', state: ['RUNNING'] });
    return answer;
  };
  const pending = new PendingJobs({ jobs: Object.assign(client.jobs, { states: racing }) }, () => 0);
  await pending.needs(signal);
  jobs[0] = job(1, { requiredNodes: 'w-0' });
  const known = await pending.needs(signal);
  assert.deepEqual(known.kind === 'known' && known.jobs, [{ id: '1', nodes: ['w-0'], features: [] }]);
});

test('without pending jobs the list of all jobs is not read', async () => {
  const { asked, client } = slurm([job(1, { state: ['RUNNING'] })]);
  await new PendingJobs(client, () => 0).needs(signal);
  assert.deepEqual(asked, ['states']);
});

test('a pending job that is listed and cannot be read may need anything', async () => {
  const jobs = [job(1)];
  const { client } = slurm(jobs);
  const { states } = client.jobs;
  const lists = async () => ({ items: [...(await states()).items, { id: '7', state: ['PENDING'] }] });
  const pending = new PendingJobs({ jobs: Object.assign(client.jobs, { states: lists }) }, () => 0);
  for (const _time of ['with the list of all', 'alone'])
    assert.equal((await pending.needs(signal)).kind, 'unknown');
  jobs.push(job(7, { requiredNodes: 'w-0' }));
  const known = await pending.needs(signal);
  assert.deepEqual(known.kind === 'known' && known.jobs.at(-1)?.nodes, ['w-0']);
});

test('the tasks of an array that wait are listed each, and ask for what their array does', async () => {
  const array = job(7, { arrayJobId: 7, requiredNodes: 'w-0' });
  const task = job(9, { arrayJobId: 7, arrayTaskId: 1, state: ['RUNNING'], requiredNodes: 'w-0' });
  const client = {
    jobs: {
      states: async () => ({ items: ['7_2', '7_3'].map((id) => ({ id, state: ['PENDING'] })) }),
      list: async () => ({ items: [array, task] }),
      get: async (id: string) => (id === '7' ? array : undefined),
    },
  } as unknown as Pick<SlurmClient, 'jobs'>;
  const known = { kind: 'known', jobs: [{ id: '7', nodes: ['w-0'], features: [] }] };
  const pending = new PendingJobs(client, () => 0);
  assert.deepEqual(await pending.needs(signal), known, 'with the list of all');
  assert.deepEqual(await pending.needs(signal), known);
  const alone = new PendingJobs(client, () => 0);
  client.jobs.list = async () => ({ items: [] }) as never;
  assert.equal((await alone.needs(signal)).kind, 'unknown');
  assert.deepEqual(await alone.needs(signal), known, 'alone');
});

test('an outage is unknown', async () => {
  const states = () => Promise.reject(new Unavailable('connection refused'));
  const client = { jobs: { states } } as unknown as Pick<SlurmClient, 'jobs'>;
  assert.equal((await new PendingJobs(client, () => 0).needs(signal)).kind, 'unknown');
});
