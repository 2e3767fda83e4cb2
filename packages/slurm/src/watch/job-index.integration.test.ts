/** The index of all jobs on the simulator: what it keeps, what it asks, and that it ends up equal to a list in full. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../testing/manual-clock.ts';
import { Random } from '../../testing/random.ts';
import { startSimulator } from '../../testing/simulator/simulator.ts';
import { noLatency } from '../../testing/simulator/simulator-latency.ts';
import { jobKey } from '../model/job.ts';
import { JobIndex } from './job-index.ts';

const latency = { ...noLatency, controllerDown: 0, controllerDownJob: 0 };

interface Row {
  readonly name: string;
  readonly user: string;
  readonly state: string;
  readonly nodes: string;
}

async function indexed() {
  const clock = new ManualClock(Date.now());
  const simulator = await startSimulator({ nodes: 'n[0-9]', clock, latency });
  const client = simulator.client({ clock });
  const index = new JobIndex<Row>({
    client,
    clock,
    pace: { fastMs: 20 },
    project: ({ name, user, state, nodes }) => ({ name, user, state: state.join('+'), nodes }),
    withState: (row, state) => ({ ...row, state: state.join('+') }),
  });
  index.start();
  const timePasses = <T>(until: Promise<T>) => {
    const timer = setInterval(() => clock.advance(60), 2);
    return until.finally(() => clearInterval(timer));
  };
  const list = () => {
    // Time passes while it waits: the lister pauses between two lists.
    return timePasses(index.listSince(clock.now()));
  };
  const requestsFor = (path: RegExp, from: number) =>
    simulator.requests.slice(from).filter((request) => path.test(request.path)).length;
  return {
    clock,
    simulator,
    client,
    index,
    list,
    timePasses,
    requestsFor,
    [Symbol.asyncDispose]: async () => {
      await index.stop();
      await simulator[Symbol.asyncDispose]();
    },
  };
}

test('keeps a row for every job, pending ones included, and reads only jobs that changed', async () => {
  await using stage = await indexed();
  const { cluster } = stage.simulator;
  for (let at = 0; at < 20; at += 1) cluster.createJob({ name: `job-${at}`, held: true });
  await stage.list();
  let known = await stage.list();
  assert.equal(known.rows.size, 20);
  const from = stage.simulator.requests.length;
  cluster.createJob({ name: 'late', user: 'alice', held: true });
  cluster.finishJob(3, 'CANCELLED');
  known = await stage.list();
  assert.equal(known.rows.get('21')?.user, 'alice');
  assert.equal(known.rows.get('3')?.state, 'CANCELLED');
  assert.equal(stage.requestsFor(/^slurm\/job\/\d+/, from), 2);
  assert.equal(stage.requestsFor(/^slurm\/jobs\/$/, from), 0);
});

test('lists in full again after a while: a changed name is not part of a state', async () => {
  await using stage = await indexed();
  const { cluster } = stage.simulator;
  const job = cluster.createJob({ name: 'before', held: true });
  await stage.list();
  job.name = 'after';
  cluster.touchJob(job);
  assert.equal((await stage.list()).rows.get(String(job.id))?.name, 'before');
  stage.clock.advance(31_000);
  assert.equal((await stage.list()).rows.get(String(job.id))?.name, 'after');
});

test('after random changes the rows equal a list in full, and every difference was announced', async () => {
  await using stage = await indexed();
  const { cluster } = stage.simulator;
  const random = new Random(7);
  const announced = new Map<string, Row>();
  stage.index.subscribe(({ view, changedKeys }) => {
    if (view.kind !== 'known') return;
    for (const key of changedKeys) {
      const row = view.rows.get(key);
      if (row === undefined) announced.delete(key);
      else announced.set(key, row);
    }
  });
  for (let round = 0; round < 60; round += 1) {
    for (let each = random.below(6); each > 0; each -= 1)
      cluster.createJob({
        name: `r${round}`,
        held: random.next() < 0.5,
        durationMs: (1 + random.below(8)) * 1000,
      });
    const ids = [...cluster.jobs.keys()];
    const id = ids.length === 0 ? undefined : random.pick(ids);
    if (id !== undefined && random.next() < 0.4) cluster.finishJob(id, 'CANCELLED');
    if (id !== undefined && random.next() < 0.2) cluster.jobs.delete(id);
    await stage.list();
  }
  await stage.list();
  const known = await stage.list();
  const full = await stage.client.jobs.list();
  const expected = Object.fromEntries(
    full.items.map((job) => [
      jobKey(job),
      { name: job.name, user: job.user, state: job.state.join('+'), nodes: job.nodes },
    ]),
  );
  assert.ok(full.items.length > 20);
  assert.deepEqual(Object.fromEntries(known.rows), expected);
  assert.deepEqual(Object.fromEntries(announced), expected);
});

test('an outage makes the view unknown, with the last rows for display', async () => {
  await using stage = await indexed();
  stage.simulator.cluster.createJob({ name: 'one', held: true });
  await stage.list();
  stage.simulator.faults.controllerDown = true;
  const { promise, resolve } = Promise.withResolvers<void>();
  stage.index.subscribe(({ view }) => view.kind === 'unknown' && resolve());
  using _fast = stage.index.pollFast();
  await stage.timePasses(promise);
  const { view } = stage.index;
  assert.ok(view.kind === 'unknown' && view.last?.rows.size === 1);
});
