/** Properties of the guard, against a plain model of what a reconfigure does to jobs (as seen on real daemons). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { guardConfig } from './guard-config.ts';
import type { SlurmWork, WorkJob } from './slurm-work.ts';

type Known = Extract<SlurmWork, { kind: 'known' }>;

const names = ['a', 'b', 'c', 'd'];
const someNames = fc.subarray(names);
/** What a cluster's slurm.conf is made of here. */
const shape = fc.record({
  partitions: someNames,
  /** Partitions whose line names a NodeSet of another name. */
  borrowed: fc.constantFrom(...names),
  statics: fc.subarray(['s1', 's2', 's3']),
  maxNodeCount: fc.constantFrom(2, 4, 8, 1024),
  gres: fc.subarray(['gpu', 'shard']),
  state: fc.constantFrom('', ' State=UP', ' State=DOWN', ' State=INACTIVE'),
  cpus: fc.constantFrom(2, 4),
  spool: fc.constantFrom('/var/spool/slurmd', '/other'),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

function confOf({ partitions, borrowed, statics, maxNodeCount, gres, state, cpus, spool }: Shape): string {
  const sets = new Set([...partitions, borrowed]);
  return [
    `MaxNodeCount=${maxNodeCount}`,
    `SlurmdSpoolDir=${spool}`,
    ...(gres.length === 0 ? [] : [`GresTypes=${gres.join(',')}`]),
    ...[...sets].map((name) => `NodeSet=${name} Feature=${name}`),
    ...statics.map((name) => `NodeName=${name} CPUs=${cpus}`),
    ...partitions.map((name) => `PartitionName=${name} Nodes=${name},${borrowed}${state}`),
    '',
  ].join('\n');
}

const aJob = fc.record({
  active: fc.boolean(),
  partitions: fc.subarray(names, { minLength: 1 }),
  nodes: fc.subarray(['s1', 's2', 's3']),
  gres: fc.subarray(['gpu', 'shard']),
  array: fc.boolean(),
});
const jobsOf = (from: string, jobs: readonly Omit<WorkJob, 'id'>[]): WorkJob[] => {
  const partitions = partitionsIn(from);
  const nodes = recordsIn(from, 'NodeName');
  return jobs.flatMap((job, at): WorkJob[] => {
    const own = job.partitions.filter((name) => partitions.has(name));
    const [first] = own;
    if (first === undefined) return [];
    return [
      {
        ...job,
        id: String(at + 1),
        partitions: job.active ? [first] : own,
        nodes: job.nodes.filter((name) => nodes.has(name)),
      },
    ];
  });
};

const recordsIn = (text: string, key: string): Set<string> =>
  new Set([...text.matchAll(new RegExp(`^${key}=(\\S+)`, 'gm'))].map((found) => found[1] ?? ''));
const partitionsIn = (text: string) => recordsIn(text, 'PartitionName');
const lineOf = (text: string, key: string, name: string): string =>
  text.match(new RegExp(`^${key}=${name}( .*)?$`, 'm'))?.[0] ?? '';
const setting = (text: string, key: string): string =>
  [...text.matchAll(new RegExp(`^${key}=(\\S+)`, 'gm'))].at(-1)?.[1] ?? '';

/** The jobs that are lost when slurmctld reads `to` after `from`. */
function lost(from: string, to: string, { jobs, nodeCount }: Known): string[] {
  const partitions = partitionsIn(to);
  const nodes = recordsIn(to, 'NodeName');
  const gres = new Set(setting(to, 'GresTypes').split(','));
  const had = new Set(setting(from, 'GresTypes').split(','));
  return jobs
    .filter(
      (job) =>
        !job.partitions.every((name) => partitions.has(name)) ||
        job.nodes.some((name) => !nodes.has(name)) ||
        (job.active &&
          job.nodes.some((name) => lineOf(from, 'NodeName', name) !== lineOf(to, 'NodeName', name))) ||
        job.gres.some((name) => had.has(name) && !gres.has(name)) ||
        (job.active && setting(from, 'SlurmdSpoolDir') !== setting(to, 'SlurmdSpoolDir')) ||
        isCrowded(from, to, nodeCount),
    )
    .map(({ id }) => id);
}

/** Nodes that registered themselves do not fit beside the nodes of slurm.conf. */
function isCrowded(from: string, to: string, nodeCount: number): boolean {
  const registered = nodeCount - recordsIn(from, 'NodeName').size;
  const all = registered + recordsIn(to, 'NodeName').size;
  return registered > 0 && all > Number(setting(to, 'MaxNodeCount'));
}

/** slurmctld ends on a partition that names something that does not exist. */
function isFatal(text: string): boolean {
  const known = new Set([...recordsIn(text, 'NodeSet'), ...recordsIn(text, 'NodeName')]);
  return [...text.matchAll(/^PartitionName=\S+ .*?Nodes=(\S+)/gm)].some((found) =>
    (found[1] ?? '').split(',').some((name) => !known.has(name)),
  );
}

const situation = fc.record({
  from: shape,
  to: shape,
  jobs: fc.array(aJob, { maxLength: 6 }),
  nodes: fc.nat(8),
});

function work(from: Shape, jobs: readonly Omit<WorkJob, 'id'>[], nodes: number, open = true): Known {
  const text = confOf(from);
  const statics = [...recordsIn(text, 'NodeName')];
  return {
    nodes: new Map(statics.map((name) => [name, { drained: !open, byGuard: false, line: undefined }])),
    partitionSets: new Map(),
    kind: 'known',
    jobs: jobsOf(text, jobs),
    partitions: new Map([...partitionsIn(text)].map((name) => [name, open])),
    nodeCount: statics.length + Math.max(0, Math.min(nodes, from.maxNodeCount - statics.length)),
    jobCount: jobs.length,
  };
}

test('no job is lost by what may be put in force, and slurmctld can run with it', () => {
  fc.assert(
    fc.property(situation, ({ from, to, jobs, nodes }) => {
      const [inForce, desired] = [confOf(from), confOf(to)];
      const slurm = work(from, jobs, nodes);
      const { text, holds } = guardConfig({ inForce, desired, slurm });
      assert.deepEqual(lost(inForce, text, slurm), [], text);
      assert.equal(isFatal(text), false, text);
      assert.equal(holds.length === 0, text === desired);
    }),
    { numRuns: 2_000 },
  );
});

test('while Slurm is unknown nothing is lost, whatever jobs it has', () => {
  fc.assert(
    fc.property(situation, ({ from, to, jobs, nodes }) => {
      const [inForce, desired] = [confOf(from), confOf(to)];
      const { text } = guardConfig({ inForce, desired, slurm: { kind: 'unknown', why: 'no answer' } });
      assert.deepEqual(lost(inForce, text, work(from, jobs, nodes)), [], text);
      assert.equal(isFatal(text), false, text);
    }),
    { numRuns: 2_000 },
  );
});

test('no line comes in that names a worker', () => {
  const workers = fc.subarray(['s1', 's2', 's3', 'w-0']);
  fc.assert(
    fc.property(situation, workers, fc.boolean(), ({ from, to, jobs, nodes }, workerNames, answers) => {
      const [inForce, desired] = [confOf(from), confOf(to)];
      const slurm: SlurmWork = answers ? work(from, jobs, nodes) : { kind: 'unknown', why: 'no answer' };
      const { text } = guardConfig({ inForce, desired, slurm, expected: { names: workerNames, absent: 0 } });
      const before = recordsIn(inForce, 'NodeName');
      for (const name of recordsIn(text, 'NodeName'))
        assert.ok(before.has(name) || !workerNames.includes(name), text);
    }),
    { numRuns: 1_000 },
  );
});

test('without jobs, and with partitions closed, the desired configuration comes out unchanged', () => {
  fc.assert(
    fc.property(shape, shape, (from, to) => {
      const slurm = work(from, [], 0, false);
      const { text, holds } = guardConfig({ inForce: confOf(from), desired: confOf(to), slurm });
      assert.deepEqual({ text, holds }, { text: confOf(to), holds: [] });
    }),
  );
});

test('what is in force and held stays the same until something changes', () => {
  fc.assert(
    fc.property(situation, fc.boolean(), ({ from, to, jobs, nodes }, answers) => {
      const slurm: SlurmWork = answers ? work(from, jobs, nodes) : { kind: 'unknown', why: 'no answer' };
      const desired = confOf(to);
      const once = guardConfig({ inForce: confOf(from), desired, slurm });
      const twice = guardConfig({ inForce: once.text, desired, slurm });
      assert.equal(twice.text, once.text);
      assert.deepEqual(
        twice.holds.map(({ kind, name, cause }) => [kind, name, cause]),
        once.holds.map(({ kind, name, cause }) => [kind, name, cause]),
      );
    }),
    { numRuns: 1_000 },
  );
});

test('reaches the desired configuration after the jobs have ended, whatever was held on the way', () => {
  fc.assert(
    fc.property(fc.array(shape, { minLength: 2, maxLength: 5 }), fc.array(aJob), (shapes, jobs) => {
      const [first, ...later] = shapes as [Shape, ...Shape[]];
      let inForce = confOf(first);
      for (const to of later)
        inForce = guardConfig({ inForce, desired: confOf(to), slurm: work(first, jobs, 8) }).text;
      const desired = confOf(later.at(-1) as Shape);
      const states = new Map([...partitionsIn(inForce)].map((name) => [name, true] as const));
      const { nodes } = work(first, [], 0);
      const idle: Known = { ...work(first, [], 0), jobs: [], jobCount: 0, nodeCount: 0, partitions: states };
      const { text: closing, nodes: drains } = guardConfig({ inForce, desired, slurm: idle });
      // What the file closes, Slurm closes.
      const shut = new Map(
        [...states].map(([name]) => [name, !lineOf(closing, 'PartitionName', name).includes('DRAIN')]),
      );
      for (const name of names)
        if (lineOf(closing, 'PartitionName', name).includes('INACTIVE')) shut.set(name, false);
      // People close the rest, where a setting needs it.
      const all = new Map([...shut].map(([name]) => [name, false]));
      const drained = new Map(
        [...nodes].map(([name, node]) => [name, { ...node, drained: drains.close.includes(name) }]),
      );
      const { text, holds } = guardConfig({
        inForce: closing,
        desired,
        slurm: { ...idle, partitions: all, nodes: drained },
      });
      assert.deepEqual({ text, holds }, { text: desired, holds: [] });
    }),
  );
});

test('a job that starts after the look at Slurm, where Slurm lets it start, is not lost either', () => {
  fc.assert(
    fc.property(situation, aJob, fc.boolean(), ({ from, to, jobs, nodes }, late, open) => {
      const [inForce, desired] = [confOf(from), confOf(to)];
      const slurm = work(from, jobs, nodes, open);
      const { text } = guardConfig({ inForce, desired, slurm });
      // A closed partition takes no job, and a drained node starts none.
      const [job] = jobsOf(inForce, [late]);
      if (job === undefined || !open) return;
      const after = { ...slurm, jobs: [{ ...job, id: 'late' }] };
      assert.deepEqual(lost(inForce, text, { ...after, nodeCount: 0 }), [], text);
    }),
    { numRuns: 2_000 },
  );
});

test('jobs that the user gave up never hold a partition', () => {
  fc.assert(
    fc.property(situation, ({ from, to, jobs, nodes }) => {
      const released = new Map(names.map((name) => [name, 'all'] as const));
      const { holds } = guardConfig({
        inForce: confOf(from),
        desired: confOf(to),
        slurm: work(from, jobs, nodes),
        released,
      });
      assert.equal(
        holds.some(({ kind }) => kind === 'Partition'),
        false,
      );
    }),
  );
});
