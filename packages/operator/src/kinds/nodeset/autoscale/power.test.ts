import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  autoscaled,
  now,
  observed,
  slurmNode,
  unplacedWorker,
  withoutJobs,
  worker,
} from '../../../../testing/observed.ts';
import type { PendingNeed } from '../../../slurm-connection/slurm-gateway.ts';
import type { WorkerAction } from '../model/actions.ts';
import type { Autoscale } from '../model/autoscale.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { planWorkers as plan } from '../plan/plan-workers.ts';
import { manualReason } from './wake-history.ts';

const settings = autoscaled({ conf: 'c0ffee00' });
const unregistered = { instanceId: undefined, slurmdStartedAt: undefined } as const;
const sleeping = (ordinal: number, over: Partial<SlurmNode> = {}) =>
  slurmNode(ordinal, { flags: new Set(['CLOUD', 'POWERED_DOWN']), ...unregistered, ...over });
const state = (ordinal: number, base: SlurmNode['base'], ...flags: string[]) =>
  slurmNode(ordinal, { base, flags: new Set(['CLOUD', ...flags]), slurmdStartedAt: now - 3_600_000 });
const idle = (ordinal: number) => state(ordinal, 'IDLE');

/** Of a set with three slots, of which those that are not mentioned sleep. */
function decide(nodes: SlurmNode[], workers: Worker[], over: Partial<Autoscale> = {}): string[] {
  return actionsOf(situation(nodes, workers, over));
}

function situation(nodes: SlurmNode[], workers: Worker[], over: Partial<Autoscale> = {}): Observed {
  const rest = [0, 1, 2].filter((ordinal) => !nodes.some(({ name }) => name === `w-${ordinal}`));
  const all = [...nodes, ...rest.map((ordinal) => sleeping(ordinal))];
  return observed(workers, all, { autoscale: { ...settings, ...over } });
}

/** It waits for a machine. */
const unplaced = (ordinal: number, over: Partial<Worker> = {}): Worker =>
  unplacedWorker(ordinal, { createdAt: now - 5_000, ...over });

const noSlurm = { kind: 'unknown', since: 0, why: 'down' } as const;

const told = ['mirror-state', 'patch-worker', 'update-node'];
const actionsOf = (given: Observed): string[] =>
  plan(given, now)
    .actions.filter(({ kind }) => !told.includes(kind))
    .map(inWords);

function inWords(action: WorkerAction): string {
  if (action.kind === 'create-worker')
    return `create ${action.slot.mode === 'StatefulSet' ? action.slot.ordinal : ''}`;
  if ('slurmNames' in action) return `${action.kind} ${action.slurmNames.join(',')}`;
  return `${action.kind} ${'slurmName' in action ? action.slurmName : ''}`;
}

describe('an autoscaled NodeSet', () => {
  const cases: readonly [string, readonly string[], readonly string[]][] = [
    ['asks for nothing while all sleep', decide([], []), []],
    [
      'creates the pods of all nodes that Slurm powers up, in one plan',
      decide([state(0, 'ALLOCATED', 'POWERING_UP'), state(1, 'ALLOCATED', 'POWERING_UP')], []),
      ['create 0', 'create 1'],
    ],
    [
      'creates no pod before slurmctld has begun to power the node up',
      decide([state(0, 'IDLE', 'POWERED_DOWN', 'POWER_UP')], []),
      [],
    ],
    [
      'takes a node that registered before that for one that is awake',
      decide([state(0, 'MIXED', 'POWER_UP')], [worker(0)]),
      [],
    ],
    ['powers an idle worker down', decide([idle(1)], [worker(1)]), ['power-down w-1']],
    ['not before its time', decide([idle(1)], [worker(1)], { idleAfter: 4_000_000 }), []],
    ['not one with a job', decide([state(1, 'MIXED')], [worker(1)]), []],
    ['not one whose job is being completed', decide([state(1, 'IDLE', 'COMPLETING')], [worker(1)]), []],
    ['not one that Slurm plans a job for', decide([state(1, 'IDLE', 'PLANNED')], [worker(1)]), []],
    ['not one that is reserved', decide([{ ...idle(1), reservation: 'fair' }], [worker(1)]), []],
    [
      'not one that someone drained',
      decide([{ ...state(1, 'IDLE', 'DRAIN'), reason: 'fan' }], [worker(1)]),
      [],
    ],
    ['not one that min asks for', decide([idle(1)], [worker(1)], { min: 1 }), []],
    ['not one that is spare', decide([idle(0), state(1, 'MIXED')], [worker(0), worker(1)], { spare: 1 }), []],
    ['not while a job may be suspended there', actionsOf(withoutJobs(situation([idle(1)], [worker(1)]))), []],
    ['wakes as many as min asks for', decide([idle(2)], [worker(2)], { min: 3 }), ['power-up w-0,w-1']],
    [
      'wakes a spare one beside those with jobs',
      decide([state(0, 'ALLOCATED')], [worker(0)], { spare: 1 }),
      ['power-up w-1'],
    ],
    [
      'deletes the pod of a node that is being powered down',
      decide([state(1, 'IDLE', 'POWERING_DOWN')], [worker(1)]),
      ['delete-worker w-1'],
    ],
    ['keeps it while the node has work', decide([state(1, 'MIXED', 'POWERING_DOWN')], [worker(1)]), []],
    [
      'offers the slot again as soon as its pod is gone',
      decide([state(1, 'IDLE', 'POWERING_DOWN')], []),
      ['mark-asleep w-1'],
    ],
    [
      'not while the pod terminates',
      decide([state(1, 'IDLE', 'POWERING_DOWN')], [worker(1, { terminating: true })]),
      [],
    ],
    [
      'leaves a failed wake-up alone until it may be tried again',
      decide(
        [{ ...state(1, 'DOWN', 'POWERED_DOWN'), reason: 'ResumeTimeout reached', reasonSetAt: now - 1 }],
        [],
      ),
      [],
    ],
    [
      'then offers it',
      decide([{ ...state(1, 'DOWN', 'POWERED_DOWN'), reason: 'ResumeTimeout reached', reasonSetAt: 0 }], []),
      ['mark-asleep w-1'],
    ],
    [
      'but not what a person set down',
      decide([{ ...state(1, 'DOWN', 'POWERED_DOWN'), reason: 'fan', reasonSetAt: 0 }], []),
      [],
    ],
    [
      'replaces a worker that started before its node was powered up',
      decide([state(1, 'ALLOCATED', 'POWERING_UP')], [worker(1)]),
      ['delete-worker w-1'],
    ],
    [
      'not one that has just started',
      decide([state(1, 'ALLOCATED', 'POWERING_UP')], [worker(1, { readySince: now - 1000 })]),
      [],
    ],
    [
      'creates a sleeping record of another size again',
      decide([sleeping(1, { size: { cpus: 2, memory: 4000, gpus: 0 } })], []),
      ['delete-record w-1'],
    ],
    [
      'creates a sleeping record again whose other parameters changed',
      decide(
        [sleeping(0, { comment: '{"conf":"c0ffee00"}' }), sleeping(1, { comment: '{"conf":"0ld"}' })],
        [],
      ),
      ['delete-record w-1'],
    ],
    [
      'marks a record whose creation was interrupted',
      decide([sleeping(1, { comment: '', ours: false, features: ['w'] })], []),
      ['mark-records w-1'],
    ],
    [
      'leaves a node of that name alone that is not its own',
      decide([sleeping(1, { comment: 'mine', ours: false, features: ['w'] })], []),
      [],
    ],
    ['drains a worker above max', decide([idle(2)], [worker(2)], { max: 2 }), ['drain w-2']],
    [
      'keeps a worker above max that a job waits for',
      decide([state(2, 'ALLOCATED', 'POWERING_UP')], [unplaced(2)], { max: 2 }),
      [],
    ],
    [
      'creates one above max that a job waits for',
      decide([state(2, 'ALLOCATED', 'POWERING_UP')], [], { max: 2 }),
      ['create 2'],
    ],
    [
      'not one that no job waits for',
      decide([state(2, 'IDLE', 'POWERING_UP')], [unplaced(2)], { max: 2 }),
      ['delete-worker w-2'],
    ],
  ];
  for (const [what, actions, expected] of cases) test(what, () => assert.deepEqual(actions, expected));

  test('a worker that a job may wait for stays while Slurm does not answer', () => {
    const off = (over: Partial<Worker>) => ({
      ...observed([unplaced(2)], []),
      workers: [{ ...unplaced(2), ...over }],
      replicas: 0,
      slurm: noSlurm,
    });
    assert.deepEqual(actionsOf(off({ forWakeUp: true })), []);
    assert.match(plan(off({ forWakeUp: true }), now).withheld.join(), /a job may wait until w-2 has started/);
    assert.deepEqual(actionsOf(off({})), ['delete-worker w-2']);
  });

  test('a worker that a job waits for is not replaced by one that is another node in Slurm', () => {
    const awaited = { ...state(2, 'ALLOCATED', 'POWERING_UP'), name: 'old-2' };
    const former = unplaced(2, { slurmName: 'old-2', revision: 'r0' });
    const of = (node: SlurmNode) => observed([former], [node], { autoscale: { ...settings, max: 3 } });
    const renamed = of(awaited);
    assert.deepEqual(
      actionsOf(renamed).filter((action) => action.startsWith('delete-worker')),
      [],
    );
    assert.match(plan(renamed, now).withheld.join(), /a job in Slurm waits until old-2 has started/);
    const unused = of({ ...awaited, base: 'IDLE' });
    assert.deepEqual(
      actionsOf(unused).filter((action) => action.startsWith('delete-worker')),
      ['delete-worker old-2'],
    );
  });

  test('a worker that a job waits for stays when autoscale is switched off, or its NodeSet is deleted', () => {
    const awaited = [state(2, 'ALLOCATED', 'POWERING_UP')];
    const off = { ...observed([unplaced(2)], awaited), replicas: 0 };
    assert.deepEqual(actionsOf(off), []);
    assert.match(plan(off, now).withheld.join(), /a job in Slurm waits until w-2 has started/);
    const deleted = { ...situation(awaited, [unplaced(2)]), deleting: true };
    assert.ok(!actionsOf(deleted).includes('delete-worker w-2'));
    assert.ok(actionsOf({ ...deleted, deletionPolicy: 'Delete' }).includes('delete-worker w-2'));
    assert.ok(actionsOf({ ...deleted, controllerExists: false }).includes('delete-worker w-2'));
  });

  test('creates no record, and replaces none, before slurmctld can wake nodes', () => {
    const cannotWake = 'slurmctld has not read its slurm.conf yet';
    const missing = observed([], [], { autoscale: { ...settings, cannotWake } });
    assert.deepEqual(actionsOf(missing), []);
    assert.match(plan(missing, now).withheld.join(), /3 records are not created: slurmctld has not read/);
    const size = { ...settings.size, cpus: 64 };
    assert.deepEqual(decide([], [], { cannotWake, size, shape: 'CPUs=64' }), []);
  });

  test('so it does while Slurm is unknown, by what its pod says: the operator may have started in the outage', () => {
    const slurmConditions = new Map([
      ['SlurmNodeStateAllocated', ''],
      ['SlurmNodeStateNotResponding', ''],
    ]);
    const silent = { ...observed([{ ...unplaced(2), slurmConditions }], []), replicas: 0, slurm: noSlurm };
    assert.deepEqual(actionsOf(silent), []);
    assert.match(plan(silent, now).withheld.join(), /a job may wait until w-2 has started/);
    const deleted = { ...silent, deleting: true };
    assert.ok(!actionsOf(deleted).includes('delete-worker w-2'));
    assert.ok(actionsOf({ ...deleted, controllerExists: false }).includes('delete-worker w-2'));
    const resting = { ...unplaced(2), slurmConditions: new Map([['SlurmNodeStateIdle', '']]) };
    assert.deepEqual(actionsOf({ ...silent, workers: [resting] }), ['delete-worker w-2']);
  });

  test('a job whose node is being woken gets its worker although autoscale was switched off, or the NodeSet is deleted, just before that', () => {
    const nodes = [state(2, 'ALLOCATED', 'POWERING_UP')];
    const over = { replicas: 0 };
    assert.deepEqual(actionsOf(observed([], nodes, over)), ['create 2']);
    const deleted = observed([], nodes, { ...over, autoscale: settings, deleting: true });
    assert.deepEqual(actionsOf(deleted), ['create 2']);
    assert.deepEqual(
      actionsOf({ ...deleted, deletionPolicy: 'CancelPending' }),
      ['create 2'],
      'it has its nodes',
    );
    assert.deepEqual(actionsOf({ ...deleted, deletionPolicy: 'Delete' }), []);
    const notForAJob = observed([], [state(2, 'IDLE', 'POWERING_UP')], { ...over, deleting: true });
    assert.ok(!actionsOf(notForAJob).includes('create 2'));
    const starting = worker(2, { everStarted: false, ready: false, phase: 'Pending' });
    assert.deepEqual(actionsOf({ ...deleted, workers: [starting] }), [], 'it stays until it has registered');
    const serving = observed([worker(2)], [state(2, 'ALLOCATED')], { deleting: true, autoscale: settings });
    assert.deepEqual(actionsOf(serving), ['drain w-2'], 'then it is drained, and the job runs to its end');
  });

  test('asks the Controller for records where Slurm cannot create them over REST', () => {
    const given = observed([], [], { autoscale: { ...settings, recordsBy: 'Controller' } });
    assert.deepEqual(actionsOf(given), []);
    assert.deepEqual(plan(given, now).autoscale?.recordsToCreate, ['w-0', 'w-1', 'w-2']);
  });

  test('holds sleeping nodes that only a person wakes, and undrains what was woken', () => {
    assert.deepEqual(decide([], [], { wake: 'Manual' }), ['hold-asleep w-0,w-1,w-2']);
    const held = (ordinal: number, ...flags: string[]) => ({
      ...sleeping(ordinal, { flags: new Set(['CLOUD', 'POWERED_DOWN', 'DRAIN', ...flags]) }),
      reason: manualReason,
    });
    const all = [held(0), held(1), held(2)];
    assert.deepEqual(decide(all, [], { wake: 'Manual' }), []);
    assert.deepEqual(decide(all, [], { wake: 'Manual', min: 1 }), ['power-up w-0']);
    assert.deepEqual(decide(all, []), ['mark-asleep w-0,w-1,w-2']);
    const awake = { ...state(1, 'IDLE', 'DRAIN'), reason: manualReason };
    assert.deepEqual(decide([held(0), awake, held(2)], [worker(1)], { wake: 'Manual' }), ['undrain w-1']);
  });

  test('replaces half of the sleeping records of another size at a time, and none that a pending job needs', () => {
    const small = { size: { cpus: 2, memory: 4000, gpus: 0 }, features: ['w'] };
    const nodes = [0, 1, 2, 3].map((ordinal) => sleeping(ordinal, small));
    const over = { max: 4 };
    assert.deepEqual(decide(nodes, [], over), ['delete-record w-0', 'delete-record w-1']);
    assert.deepEqual(decide([sleeping(0), ...nodes.slice(1)], [], over), [
      'delete-record w-1',
      'delete-record w-2',
    ]);
    const half = observed([], nodes.slice(2), {
      autoscale: { ...settings, ...over, recordsBy: 'Controller' },
    });
    assert.deepEqual(actionsOf(half), [], 'the others are not there again');
    assert.deepEqual(
      decide(nodes, [], { ...over, recordsBy: 'Controller' }),
      [],
      'Slurm 24.11 could not use them',
    );
    const needs = (need: Partial<PendingNeed>, given: SlurmNode[]) => {
      const jobs = [{ id: '7', nodes: [], features: [], ...need }];
      return actionsOf({ ...situation(given, [], over), pendingNeeds: { kind: 'known', jobs } });
    };
    assert.deepEqual(needs({ nodes: ['w-1'] }, nodes), ['delete-record w-0']);
    assert.deepEqual(needs({ features: ['w'] }, nodes), ['delete-record w-0', 'delete-record w-1']);
    const unknown = { kind: 'unknown', why: 'no answer' } as const;
    assert.deepEqual(actionsOf({ ...situation(nodes, [], over), pendingNeeds: unknown }), []);
    const single = actionsOf({
      ...observed([], [sleeping(0, small)], { autoscale: { ...settings, max: 1 } }),
      pendingNeeds: { kind: 'known', jobs: [{ id: '7', nodes: [], features: ['w'] }] },
    });
    assert.deepEqual(single, []);
  });

  test('gives sleeping records the features that a worker has now, in one request', () => {
    const features = ['fast', 'w'];
    const given = (nodes: SlurmNode[]) => actionsOf({ ...situation(nodes, []), features });
    const before = [0, 1, 2].map((ordinal) => sleeping(ordinal, { features: ['w'] }));
    assert.deepEqual(given(before), ['mark-records w-0,w-1,w-2']);
    const ofNode = (ordinal: number, feature: string) => sleeping(ordinal, { features: [feature, 'k8s/a'] });
    assert.deepEqual(given([before[0] ?? sleeping(0), ofNode(1, 'w'), ofNode(2, 'w')]), [
      'mark-records w-0',
      'mark-records w-1,w-2',
    ]);
    assert.deepEqual(given([0, 1, 2].map((ordinal) => sleeping(ordinal, { features: ['w', 'fast'] }))), []);
  });

  test('creates the records that Slurm lacks, but none under a pod', () => {
    const given = observed([worker(1, { readySince: now })], [], { autoscale: settings });
    assert.deepEqual(actionsOf(given), ['create-records w-0,w-2']);
    const unable = { autoscale: { ...settings, unsupported: 'too old' } };
    assert.deepEqual(actionsOf(observed([], [], unable)), []);
    assert.match(plan(observed([], [], unable), now).withheld.join(), /3 records are not created: too old/);
    assert.deepEqual(actionsOf(observed([], [], { autoscale: { ...settings, shape: undefined } })), []);
  });

  test('does nothing while Slurm is unknown', () => {
    const workers = [worker(0), worker(1)];
    assert.deepEqual(actionsOf({ ...situation([idle(0), idle(1)], workers), slurm: noSlurm }), []);
  });

  test('deletes sleeping records before it creates workers, once autoscale is removed', () => {
    const { autoscale: _off, ...rest } = situation([], []);
    assert.deepEqual(actionsOf({ ...rest, replicas: 1 }).toSorted(), ['drain w-0', 'drain w-1', 'drain w-2']);
  });
});
