/** Arrays as real Slurm lists them: each waiting task in `jobs/state`, and one record for all of them in a list of jobs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../testing/manual-clock.ts';
import type { SlurmClient } from '../client.ts';
import type { SlurmJob } from '../model/job.ts';
import { JobIndex } from './job-index.ts';

interface Record {
  readonly id: number;
  readonly arrayTaskId?: number;
  readonly name: string;
}

/** Answers as recorded from 26.05: the array is job 1, its task 0 runs as job 3. */
function stage() {
  const clock = new ManualClock(1_000_000);
  const slurm = { states: new Map<string, string>(), records: [] as Record[], gets: [] as string[] };
  const jobs = {
    states: () => {
      const items = [...slurm.states].map(([id, state]) => ({ id, state: [state] }));
      return Promise.resolve({ items, beganAt: clock.now(), bytes: 100, changed: true, warnings: [] });
    },
    listProjected: <T>(project: (job: SlurmJob) => T) =>
      Promise.resolve({ items: slurm.records.map((one) => project(one as SlurmJob)), bytes: 100 }),
    get: (id: string) => {
      slurm.gets.push(id);
      const [number] = id.split('_');
      return Promise.resolve(slurm.records.find((one) => String(one.id) === number) as SlurmJob | undefined);
    },
  };
  const index = new JobIndex<string>({
    client: { circuit: () => ({ waitMs: 0 }), jobs } as unknown as SlurmClient,
    clock,
    pace: { fastMs: 10 },
    project: ({ name }) => name,
    withState: (row) => row,
    withTask: (array, task) => `${array}[${task}]`,
  });
  const rows = async () => {
    const timer = setInterval(() => clock.advance(50), 1);
    try {
      const view = await index.listSince(clock.now());
      return Object.fromEntries(view.rows);
    } finally {
      clearInterval(timer);
    }
  };
  return { slurm, index, rows, [Symbol.asyncDispose]: () => index.stop() };
}

test('the first list has a row for each waiting task, and one for the task that runs', async () => {
  await using world = stage();
  world.slurm.states = new Map([
    ['3_0', 'RUNNING'],
    ['1_1', 'PENDING'],
    ['1_2', 'PENDING'],
  ]);
  world.slurm.records = [
    { id: 1, name: 'sweep' },
    { id: 3, arrayTaskId: 0, name: 'sweep' },
  ];
  world.index.start();
  assert.deepEqual(await world.rows(), { '3_0': 'sweep', '1_1': 'sweep[1]', '1_2': 'sweep[2]' });
});

test('an array that is submitted later costs one read, however many tasks wait', async () => {
  await using world = stage();
  world.index.start();
  assert.deepEqual(await world.rows(), {});
  world.slurm.records = [{ id: 1, name: 'sweep' }];
  world.slurm.states = new Map(Array.from({ length: 500 }, (_, task) => [`1_${task}`, 'PENDING']));
  const rows = await world.rows();
  assert.equal(Object.keys(rows).length, 500);
  assert.equal(rows['1_499'], 'sweep[499]');
  assert.deepEqual(world.slurm.gets.length, 1);
});
