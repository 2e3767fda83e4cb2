/** Law L1: what makes it safe to delete a worker, case by case. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { SafeBecause } from '../model/actions.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { joinsWithin, safeToDelete } from './safe-to-delete.ts';

const unknown = { slurm: { kind: 'unknown', since: 0, why: 'slurmrestd is paused' } } as const;
const jobsUnknown = {
  slurm: { kind: 'known', at: now, nodes: new Map(), jobsUnknown: 'not listed yet', controllerStartedAt: 0 },
} as const;
const drain = { flags: new Set(['DRAIN']), reason: 'slurm-operator: going' };

interface Case {
  readonly reason: string;
  readonly worker?: Partial<Worker>;
  /** Its record in Slurm; undefined: there is none. */
  readonly node?: Partial<SlurmNode>;
  readonly over?: Partial<Observed>;
  readonly because: SafeBecause | 'unsafe' | 'blind';
}

function check({ reason, worker: w, node, over, because }: Case): void {
  test(reason, () => {
    const records = node === undefined ? [] : [slurmNode(0, node)];
    const seen = observed([worker(0, w)], records);
    const slurm =
      over?.slurm?.kind === 'known' && records.length > 0
        ? { ...over.slurm, nodes: new Map(records.map((record) => [record.name, record])) }
        : (over?.slurm ?? seen.slurm);
    const safety = safeToDelete(worker(0, w), { ...seen, ...over, slurm }, now);
    assert.equal(safety.safe ? safety.because : safety.blind ? 'blind' : 'unsafe', because);
  });
}

describe('a worker that has started', () => {
  const cases: readonly Case[] = [
    { reason: 'is drained', node: drain, because: 'drained' },
    {
      reason: 'is drained by a user',
      node: { ...drain, reason: 'bad GPU' },
      because: 'drained-by-other',
    },
    {
      reason: 'is drained, but may have a suspended job: the jobs are not known',
      node: drain,
      over: jobsUnknown,
      because: 'blind',
    },
    {
      reason: 'is unknown to Slurm, whatever jobs there are',
      over: jobsUnknown,
      because: 'unknown-to-slurm',
    },
    { reason: 'drains', node: { ...drain, base: 'ALLOCATED' }, because: 'unsafe' },
    { reason: 'waits for its epilog', node: { flags: new Set(['DRAIN', 'COMPLETING']) }, because: 'unsafe' },
    { reason: 'is idle', node: {}, because: 'unsafe' },
    { reason: 'is being undrained', node: { flags: new Set(['DRAIN', 'UNDRAIN']) }, because: 'unsafe' },
    { reason: 'is down: it may come back with work', node: { base: 'DOWN' }, because: 'unsafe' },
    {
      reason: 'is in a state that the operator does not know',
      node: { ...drain, base: 'UNKNOWN' },
      because: 'unsafe',
    },
    { reason: 'is unknown to Slurm', because: 'unknown-to-slurm' },
    {
      reason: 'is unknown to Slurm, and has only just started',
      worker: { startedAt: now - 30_000 },
      because: 'unsafe',
    },
    {
      reason: 'is unknown to a slurmctld that has only just started',
      over: {
        slurm: {
          kind: 'known',
          at: now,
          nodes: new Map(),
          jobsUnknown: undefined,
          controllerStartedAt: now - 30_000,
        },
      },
      because: 'unsafe',
    },
    {
      reason: 'is unknown to a slurmctld whose start time is unknown',
      over: {
        slurm: {
          kind: 'known',
          at: now,
          nodes: new Map(),
          jobsUnknown: undefined,
          controllerStartedAt: undefined,
        },
      },
      because: 'blind',
    },
    {
      reason: 'had work when Slurm last knew it',
      worker: { writtenDeadline: now + 60_000 },
      because: 'unsafe',
    },
    {
      reason: 'had work that must have ended by now',
      worker: { writtenDeadline: now - 1 },
      because: 'unknown-to-slurm',
    },
    {
      reason: 'had work without a limit when Slurm last knew it, more than a day ago',
      worker: { writtenDeadline: Number.POSITIVE_INFINITY },
      over: { lostSince: now - 25 * 3_600_000 },
      because: 'unknown-to-slurm',
    },
    {
      reason: 'is drained, however young',
      worker: { startedAt: now - 1_000 },
      node: drain,
      because: 'drained',
    },
    { reason: 'Slurm does not answer', over: unknown, because: 'blind' },
    {
      reason: 'the list is as old as our last change',
      node: drain,
      over: { lastWrites: new Map([['w-0', now]]) },
      because: 'blind',
    },
    { reason: 'its image was lost since', worker: { cannotStart: true }, over: unknown, because: 'blind' },
  ];
  cases.forEach(check);
});

describe('a worker whose start was not reported', () => {
  const untold = { everStarted: false, phase: 'Pending', ready: false, startedAt: undefined } as const;
  const unbound = { ...untold, nodeName: undefined };
  const stuck = { ...untold, cannotStart: true };
  const busy = { base: 'ALLOCATED' } as const;
  const cases: readonly Case[] = [
    { reason: 'has no machine', worker: unbound, over: unknown, because: 'never-started' },
    {
      reason: 'has no machine, so the work under its name is not its own',
      worker: unbound,
      node: busy,
      because: 'never-started',
    },
    { reason: 'may run already, and Slurm does not answer', worker: untold, over: unknown, because: 'blind' },
    { reason: 'has a job already', worker: untold, node: busy, because: 'unsafe' },
    { reason: 'has joined already', worker: untold, node: {}, because: 'unsafe' },
    { reason: 'has not joined in its time', worker: untold, because: 'unknown-to-slurm' },
    { reason: 'has yet to join', worker: { ...untold, placedAt: now - 30_000 }, because: 'unsafe' },
    {
      reason: 'has yet to join, and the time of its scheduling is not recorded',
      worker: { ...untold, placedAt: undefined, createdAt: now - 30_000 },
      because: 'unsafe',
    },
    {
      reason: 'was placed just now and cannot start',
      worker: { ...stuck, placedAt: now - 1_000 },
      because: 'unknown-to-slurm',
    },
    { reason: 'found a drained record', worker: untold, node: drain, because: 'drained' },
    {
      reason: 'found a dead record, under which it may join',
      worker: untold,
      node: { base: 'DOWN' },
      because: 'unsafe',
    },
    {
      reason: 'found a record of a slurmd that does not respond',
      worker: untold,
      node: { flags: new Set(['NOT_RESPONDING']) },
      because: 'unsafe',
    },
    {
      reason: 'found work of its predecessor, which may live',
      worker: untold,
      node: { base: 'MIXED', flags: new Set(['DRAIN', 'NOT_RESPONDING']) },
      because: 'unsafe',
    },
    {
      reason: 'the list is older than our last change',
      worker: untold,
      over: { lastWrites: new Map([['w-0', now]]) },
      because: 'blind',
    },
    {
      reason: 'waits for an image, says its kubelet',
      worker: stuck,
      over: unknown,
      because: 'never-started',
    },
    { reason: 'has a job, whatever its kubelet says', worker: stuck, node: busy, because: 'unsafe' },
    {
      reason: 'waited for an image when its machine was last heard of',
      worker: { ...stuck, nodeReachable: false },
      over: unknown,
      because: 'blind',
    },
    {
      reason: 'was cut off with its machine, and Slurm has work under its name',
      worker: { ...untold, nodeReachable: false },
      node: busy,
      because: 'unsafe',
    },
  ];
  cases.forEach(check);
});

describe('a NodeSet that is deleted', () => {
  const busy = { base: 'ALLOCATED' } as const;
  const cases: readonly Case[] = [
    { reason: 'drains', node: busy, over: { deleting: true }, because: 'unsafe' },
    {
      reason: 'does not drain if the user said so',
      node: busy,
      over: { deleting: true, deletionPolicy: 'Delete' },
      because: 'user-asked',
    },
    {
      reason: 'has no Slurm to query when its Controller is gone',
      over: { deleting: true, controllerExists: false, ...unknown },
      because: 'no-controller',
    },
    {
      reason: 'is not meant by a policy about its deletion while it stays',
      node: busy,
      over: { deletionPolicy: 'Delete', controllerExists: false },
      because: 'unsafe',
    },
  ];
  cases.forEach(check);
});

test('a worker that registered under another name is not unknown to Slurm', () => {
  const given = worker(0, { slurmName: 'machine.example' });
  const records = [slurmNode(0, { name: 'machine', base: 'ALLOCATED', instanceId: given.uid })];
  const safety = safeToDelete(given, observed([given], records), now);
  assert.match(safety.safe ? 'safe' : safety.why, /knows it as machine and not as machine\.example/);
});

test('a minute after it was started, and not before, its absence counts', () => {
  const started = (ago: number) => worker(0, { startedAt: now - ago });
  const isSafe = (given: Worker) => safeToDelete(given, observed([given], []), now).safe;
  assert.deepEqual([isSafe(started(joinsWithin - 1)), isSafe(started(joinsWithin))], [false, true]);
});

test('a worker that may still join is looked at again when its time to do so is over', () => {
  const young = worker(0, { startedAt: now - 20_000 });
  const safety = safeToDelete(young, observed([young], []), now);
  assert.equal(safety.safe ? undefined : safety.until, now - 20_000 + joinsWithin);
});

describe('a slurmctld that lost its state', () => {
  const four = [0, 1, 2, 3].map((ordinal) => worker(ordinal));
  const lost = (lostSince: number) => safeToDelete(worker(0), { ...observed(four, []), lostSince }, now);
  test('keeps workers as long as the state may come back, also those that are scaled in', () => {
    const safety = lost(now - 14 * 60_000);
    assert.equal(safety.safe, false);
    assert.equal(safety.safe ? undefined : safety.until, now + 60_000);
    assert.equal(lost(now - 15 * 60_000).safe, true);
  });
});
