/** What happens when no machine comes for a worker: whole jobs, the order of priority, and slots that are not offered for a while. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  autoscaled,
  now,
  observed,
  slurmNode,
  unplacedWorker,
  worker,
} from '../../../../testing/observed.ts';
import type { WorkerAction } from '../model/actions.ts';
import type { Autoscale, WakingJob } from '../model/autoscale.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { planWorkers } from '../plan/plan-workers.ts';
import { gaveUpReason, halfOpenAfter } from './wake-history.ts';

const settings = autoscaled({ max: 4, idleAfter: 3_600_000 });

const node = (ordinal: number, base: SlurmNode['base'], flags: string[], over: Partial<SlurmNode> = {}) =>
  slurmNode(ordinal, {
    base,
    flags: new Set(['CLOUD', ...flags]),
    instanceId: undefined,
    slurmdStartedAt: undefined,
    ...over,
  });
const waking = (ordinal: number) => node(ordinal, 'ALLOCATED', ['POWERING_UP', 'NOT_RESPONDING']);
const awake = (ordinal: number, base: SlurmNode['base'] = 'IDLE') =>
  slurmNode(ordinal, { base, flags: new Set(['CLOUD']), slurmdStartedAt: now - 60_000 });
const failed = (ordinal: number, ago: number) =>
  node(ordinal, 'DOWN', ['POWERING_DOWN'], {
    reason: `${gaveUpReason}then: 0/3 nodes are available`,
    reasonSetAt: now - ago,
  });
const pending = (ordinal: number, age: number, over: Partial<Worker> = {}) =>
  unplacedWorker(ordinal, {
    createdAt: now - age,
    problem: { kind: 'unschedulable', message: '0/3 nodes are available' },
    ...over,
  });
const starting = (ordinal: number) =>
  worker(ordinal, { ready: false, readySince: undefined, createdAt: now - 400_000 });

function situation(
  nodes: SlurmNode[],
  workers: Worker[],
  jobs: WakingJob[] = [],
  over: Partial<Observed> & { settings?: Partial<Autoscale> } = {},
): Observed {
  const { settings: changed, ...rest } = over;
  const missing = [0, 1, 2, 3].filter((ordinal) => !nodes.some(({ name }) => name === `w-${ordinal}`));
  const all = [...nodes, ...missing.map((ordinal) => node(ordinal, 'IDLE', ['POWERED_DOWN']))];
  const given = observed(workers, all, { autoscale: { ...settings, ...changed }, ...rest });
  return given.slurm.kind === 'unknown' ? given : { ...given, slurm: { ...given.slurm, jobs } };
}

const quiet = ['mirror-state', 'patch-worker', 'update-node'];
const actionsOf = (given: Observed): WorkerAction[] =>
  planWorkers(given, now).actions.filter(({ kind }) => !quiet.includes(kind));
const words = (given: Observed): string[] =>
  actionsOf(given).map((action) =>
    'slurmNames' in action
      ? `${action.kind} ${action.slurmNames.join()}`
      : `${action.kind} ${'slurmName' in action ? action.slurmName : ''}`,
  );

const two: WakingJob = { id: '7', priority: 10, nodes: ['w-0', 'w-1'] };
const other: WakingJob = { id: '8', priority: 5, nodes: ['w-2', 'w-3'] };

describe('a worker that no machine comes for', () => {
  test('waits for giveUpAfter', () => {
    assert.deepEqual(words(situation([waking(0)], [pending(0, 200_000)])), []);
    assert.equal(planWorkers(situation([waking(0)], [pending(0, 200_000)]), now).wakeAt, now + 100_000);
  });

  test('is abandoned with its whole job, but not what has started', () => {
    const given = situation([waking(0), waking(1)], [pending(0, 400_000), pending(1, 100_000)], [two]);
    assert.deepEqual(words(given), ['delete-worker w-0', 'delete-worker w-1']);
    const [action] = actionsOf(given);
    assert.ok(action?.kind === 'delete-worker');
    assert.deepEqual(
      [action.because, action.why, action.gaveUp, action.resourceVersion],
      ['never-started', 'no-machine', '0 of 2 nodes: 0/3 nodes are available', '1'],
    );
    const half = situation([waking(0), waking(1)], [starting(0), pending(1, 400_000)], [two]);
    assert.deepEqual(words(half), ['delete-worker w-1']);
  });

  test('is not abandoned while Slurm is unknown, or does not wait for it any more', () => {
    const given = situation([waking(0)], [pending(0, 400_000)], [two]);
    assert.deepEqual(words({ ...given, slurm: { kind: 'unknown', since: 0, why: 'down' } }), []);
    assert.deepEqual(words({ ...given, lastWrites: new Map([['w-0', now]]) }), []);
    assert.deepEqual(words(situation([awake(0, 'ALLOCATED')], [pending(0, 400_000)], [two])), []);
  });

  test('then its node is set down, and its job is told why and when the next try is', () => {
    const gaveUp = new Map([
      ['w-0', '0 of 2 nodes: full'],
      ['w-1', '0 of 2 nodes: full'],
    ]);
    const given = situation([waking(0), waking(1)], [], [two, other], { gaveUp });
    const [fail] = actionsOf(given);
    assert.ok(fail?.kind === 'fail-wake');
    const nextTry = '1970-04-26T17:56:40Z';
    assert.deepEqual(fail, {
      kind: 'fail-wake',
      slurmNames: ['w-0', 'w-1'],
      reason: `${gaveUpReason}${nextTry}: 0 of 2 nodes: full`,
      resumeAfterSeconds: 600,
      jobs: [{ id: '7', adminComment: `slurm-operator: requeued: 0 of 2 nodes: full; next try ${nextTry}` }],
    });
    const terminating = situation([waking(0)], [pending(0, 400_000, { terminating: true })], [two], {
      gaveUp,
    });
    assert.deepEqual(words(terminating), [], 'not while its pod exists');
  });
});

describe('when machines are short', () => {
  const nodes = [waking(0), waking(1), waking(2), waking(3)];

  test('a job of lower priority gives its machines to one that they complete', () => {
    const workers = [starting(0), pending(1, 400_000), starting(2), pending(3, 400_000)];
    assert.deepEqual(words(situation(nodes, workers, [two, other])), ['delete-worker w-3']);
    const urgent = { ...other, priority: 20 };
    assert.deepEqual(words(situation(nodes, workers, [two, urgent])), ['delete-worker w-1']);
  });

  test('both are abandoned if neither can be completed', () => {
    const workers = [0, 1, 2, 3].map((ordinal) => pending(ordinal, 400_000));
    assert.equal(words(situation(nodes, workers, [two, other])).length, 4);
  });

  test('one that is left waits again after another failed', () => {
    const given = situation(
      [waking(0), waking(1), failed(3, 10_000)],
      [starting(0), pending(1, 400_000)],
      [two],
    );
    assert.deepEqual(words(given), ['hold-asleep w-2']);
  });

  test('an idle worker gives its machine up at once', () => {
    const given = situation([waking(0), awake(1)], [pending(0, 60_000), worker(1)]);
    assert.deepEqual(words(given), ['power-down w-1']);
    assert.deepEqual(words(situation([awake(1)], [worker(1)])), []);
  });

  test('pods are created in the order of the priority of their jobs', () => {
    const given = situation(nodes, [], [two, { ...other, priority: 20 }]);
    const slots = actionsOf(given).flatMap((action) =>
      action.kind === 'create-worker' && action.slot.mode === 'StatefulSet' ? action.slot.ordinal : [],
    );
    assert.deepEqual(slots, [2, 3, 0, 1]);
  });
});

describe('after a failed wake-up', () => {
  test('the sleeping rest is not offered, and Slurm itself ends that', () => {
    const [hold] = actionsOf(situation([failed(0, 100_000)], []));
    assert.ok(hold?.kind === 'hold-asleep');
    assert.deepEqual([hold.slurmNames, hold.resumeAfterSeconds], [['w-1', 'w-2', 'w-3'], 500]);
    assert.equal(planWorkers(situation([failed(0, 100_000)], []), now).autoscale?.nextTryAt, now + 500_000);
  });

  test('all are offered again after retryAfter, or once a worker has started', () => {
    assert.deepEqual(words(situation([failed(0, 700_000)], [])), ['mark-asleep w-0']);
    const cooled = node(1, 'IDLE', ['POWERED_DOWN', 'DRAIN'], {
      reason: `${gaveUpReason}x`,
      reasonSetAt: now,
    });
    const given = situation([failed(0, 100_000), cooled, awake(2)], [worker(2)]);
    assert.deepEqual(words(given), ['mark-asleep w-0,w-1']);
    assert.equal(planWorkers(given, now).autoscale?.history.failures, 0);
  });

  test('a failure is counted once, and several in a row protect the NodeSet', () => {
    const history = { failures: 2, lastFailureAt: now - 900_000, protectedSince: undefined };
    const given = situation([failed(0, 700_000), failed(1, 700_000)], [], [], { settings: { history } });
    const { autoscale } = planWorkers(given, now);
    assert.deepEqual(autoscale?.history, {
      failures: 3,
      lastFailureAt: now - 700_000,
      protectedSince: now,
    });
    assert.equal(autoscale?.nextTryAt, now - 700_000 + halfOpenAfter);
    assert.deepEqual(words(given), ['hold-asleep w-2,w-3']);
    const later = { ...given, autoscale: { ...settings, history: autoscale.history } };
    assert.equal(planWorkers(later, now).autoscale?.history.failures, 3);
  });

  test('what Slurm itself gave up does not stop the others', () => {
    const timedOut = node(0, 'DOWN', ['POWERED_DOWN'], {
      reason: 'ResumeTimeout reached',
      reasonSetAt: now - 1,
    });
    assert.deepEqual(words(situation([timedOut], [])), []);
  });
});
