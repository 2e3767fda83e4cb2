import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoscaled, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import { type Simulation, simulate } from './simulate.ts';
import type { SimulatedJob } from './virtual-world.ts';

const minute = 60_000;
const durations = { start: 2 * minute, termination: minute };
const three = [0, 1, 2];
const set = (over: Parameters<typeof observed>[2] = {}) =>
  observed(
    three.map((ordinal) => worker(ordinal)),
    three.map((ordinal) => slurmNode(ordinal)),
    over,
  );
const job = (id: number, node: string, ends: number): SimulatedJob => ({
  id,
  nodes: [node],
  endsAt: ends,
  deadline: ends,
});
const order = ({ steps }: Simulation, ...kinds: string[]) =>
  steps.filter(({ kind }) => kinds.includes(kind)).map(({ kind, name }) => `${kind} ${name}`);
const after = ({ endsAt }: Simulation) =>
  endsAt === undefined ? undefined : Math.round((endsAt - now) / minute);

test('idle workers are replaced one at a time, each after the termination and start of the one before', () => {
  const done = simulate(set({ updateRevision: 'r2' }), [], durations, now);
  assert.deepEqual(order(done, 'delete', 'create'), [
    'delete w-2',
    'create w-2',
    'delete w-1',
    'create w-1',
    'delete w-0',
    'create w-0',
  ]);
  assert.equal(after(done), 9);
  assert.deepEqual([done.availableBefore, done.lowestAvailable, done.availableAfter], [3, 2, 3]);
});

test('a worker whose job ends first is removed first, and the last job decides the end', () => {
  const jobs = [
    job(1, 'w-0', now + 10 * minute),
    job(2, 'w-1', now + 30 * minute),
    job(3, 'w-2', now + 20 * minute),
  ];
  const done = simulate(set({ replicas: 1 }), jobs, durations, now);
  assert.deepEqual(order(done, 'delete'), ['delete w-0', 'delete w-2']);
  assert.equal(after(done), 21);
});

test('a job without a limit never ends the rollout, and the plan names its worker', () => {
  const jobs = [job(1, 'w-0', Number.POSITIVE_INFINITY)];
  const done = simulate(
    set({ updateRevision: 'r2', update: { ...set().update, maxUnavailable: 3 } }),
    jobs,
    durations,
    now,
  );
  assert.equal(done.endsAt, undefined);
  assert.deepEqual(done.blocked, ['w-0']);
  assert.match(done.withheld.join(), /w-0 stays: w-0 is ALLOCATED\+DRAIN/);
  assert.deepEqual(order(done, 'create'), ['create w-1', 'create w-2']);
});

test('a paused rollout ends at once and keeps the old revision', () => {
  const done = simulate(
    set({ updateRevision: 'r2', update: { ...set().update, paused: true } }),
    [],
    durations,
    now,
  );
  assert.deepEqual([done.endsAt, done.outdated.length], [now, 3]);
});

test('an unknown Slurm removes nothing and has no end', () => {
  const slurm = { kind: 'unknown', since: now, why: 'connection refused' } as const;
  const done = simulate(set({ replicas: 1, slurm }), [], durations, now);
  assert.deepEqual([order(done, 'delete'), done.endsAt], [[], undefined]);
});

const autoscale = autoscaled();
const cloud = (ordinal: number, ...flags: string[]) =>
  slurmNode(ordinal, {
    base: 'IDLE',
    flags: new Set(['CLOUD', ...flags]),
    slurmdStartedAt: now - 60 * minute,
    ...(flags.length > 0 ? { instanceId: undefined, slurmdStartedAt: undefined } : {}),
  });

test('of an autoscaled set the workers that are awake are replaced or removed, and sleeping ones stay asleep', () => {
  const nodes = [cloud(0), cloud(1), cloud(2, 'POWERED_DOWN')];
  const two = (over: object) => observed([worker(0), worker(1)], nodes, { autoscale, ...over });
  const busy = [job(1, 'w-0', now + 20 * minute)];
  const rolled = simulate(two({ updateRevision: 'r2' }), busy, durations, now);
  assert.deepEqual(order(rolled, 'delete', 'create'), [
    'delete w-1',
    'create w-1',
    'delete w-0',
    'create w-0',
  ]);
  assert.equal(after(rolled), 23);
  const fewer = simulate(two({ autoscale: { ...autoscale, max: 1 } }), busy, durations, now);
  assert.deepEqual(order(fewer, 'delete', 'create'), ['delete w-1']);
});
