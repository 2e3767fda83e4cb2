/** Single decisions of the NodeSet plan, each with its reason. The laws over whole histories are in plan.laws.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../testing/observed.ts';
import { controllerYouth, registrationGrace } from './condemned.ts';
import type { KubeNode, Observed, SlurmNode, Worker } from './observed.ts';
import { plan } from './plan.ts';
import { victimOrder } from './victim-order.ts';

const ours = 'slurm-operator: Pod (slurm/w-0) is pending termination for scale-in';

/** What is decided; that conditions follow Slurm's state has a test of its own. */
const kinds = (given: Observed) =>
  plan(given, now)
    .actions.map((action) => action.kind)
    .filter((kind) => kind !== 'mirror-state');
const busy = { base: 'ALLOCATED' as const, deadline: now + 60_000 };

test('an unchanged NodeSet asks for nothing', () => {
  assert.deepEqual(plan(observed([worker(0), worker(1)], [slurmNode(0), slurmNode(1)]), now).actions, []);
});

test('upstream item 1: without a view of Slurm no started worker is deleted', () => {
  const unknown = { kind: 'unknown', since: 0, why: 'connection refused' } as const;
  const made = plan(observed([worker(0)], [], { replicas: 0, slurm: unknown }), now);
  assert.deepEqual(
    made.actions.map((action) => action.kind),
    ['patch-worker'],
    'the cordon is written, nothing else',
  );
  assert.match(made.withheld.join(), /connection refused/);
});

test('scale-in drains first, waits while there is work, deletes when drained', () => {
  const cordoned = { cordoned: true, cordonCause: 'scale-in' } as const;
  assert.deepEqual(kinds(observed([worker(0)], [slurmNode(0)], { replicas: 0 })), ['patch-worker', 'drain']);
  const draining = slurmNode(0, { ...busy, flags: new Set(['DRAIN']), reason: ours });
  assert.ok(!kinds(observed([worker(0, cordoned)], [draining], { replicas: 0 })).includes('delete-worker'));
  const drained = slurmNode(0, { flags: new Set(['DRAIN']), reason: ours });
  assert.deepEqual(kinds(observed([worker(0, cordoned)], [drained], { replicas: 0 })), ['delete-worker']);
  const before = observed([worker(0, cordoned)], [drained], {
    replicas: 0,
    lastWrites: new Map([['w-0', now]]),
  });
  assert.deepEqual(kinds(before), [], 'a list that is not newer than our drain says nothing');
});

test('a list that began before our last change was answered is looked past soon, not at the next news', () => {
  const drained = slurmNode(0, { flags: new Set(['DRAIN']), reason: ours });
  const behind = observed([worker(0), worker(1)], [drained, slurmNode(1)], {
    replicas: 1,
    lastWrites: new Map([['w-0', now]]),
  });
  assert.equal(plan(behind, now).wakeAt, now + 1000);
  const level = { ...behind, lastWrites: new Map([['w-0', now - 60_000]]) };
  assert.equal(plan(level, now).wakeAt, undefined);
});

describe('a node that we drained is undrained only for the slurmd of the pod that is there now', () => {
  const started = now - 300_000;
  const missed = { instanceId: 'uid-of-predecessor', address: '10.0.0.0', slurmdStartedAt: started };
  const cases: readonly [reason: string, over: Partial<SlurmNode>, undrained: boolean][] = [
    ['its instance id says so', { instanceId: 'uid-0', slurmdStartedAt: started - 3_600_000 }, true],
    ['Slurm missed the new id, but the address is the pod’s', { ...missed, slurmdStartedAt: now }, true],
    ['Slurm missed the new id, but it started with the container', { ...missed, address: '192.0.2.9' }, true],
    ['started before the container: the predecessor', { ...missed, slurmdStartedAt: started - 5_000 }, false],
    [
      'another id, another address, another time: a ghost that was restarted elsewhere',
      { ...missed, address: '192.0.2.9', slurmdStartedAt: now },
      false,
    ],
    ['no id at all, started after the container', { ...missed, instanceId: undefined, address: 'x' }, true],
    ['it does not respond', { flags: new Set(['DRAIN', 'NOT_RESPONDING']) }, false],
  ];
  for (const [reason, over, undrained] of cases)
    test(reason, () => {
      const node = slurmNode(0, { flags: new Set(['DRAIN']), reason: ours, ...over });
      const actions = kinds(observed([worker(0, { startedAt: started })], [node]));
      assert.equal(actions.includes('undrain'), undrained);
    });
});

test('a reversal in the middle of a scale-in undrains and keeps', () => {
  const drained = slurmNode(0, { flags: new Set(['DRAIN']), reason: ours });
  const actions = kinds(observed([worker(0, { cordoned: true, cordonCause: 'scale-in' })], [drained]));
  assert.deepEqual(actions, ['patch-worker', 'undrain']);
});

test('upstream item 3: a rollout or a cordon deletes no claim, a scale-in does if the policy says so', () => {
  const claim = {
    name: 'd-0',
    uid: 'c',
    slot: { mode: 'StatefulSet', ordinal: 0 },
    ownedByNodeSet: false,
    scaledIn: false,
    terminating: false,
  } as const;
  const deleting = { retention: { whenScaled: 'Delete', whenDeleted: 'Retain' }, claims: [claim] } as const;
  const drained = slurmNode(0, { flags: new Set(['DRAIN']), reason: ours });
  const cordoned = worker(0, { cordoned: true, cordonCause: 'scale-in' });
  assert.deepEqual(
    kinds(observed([cordoned], [drained], { replicas: 0, ...deleting })),
    ['mark-claim'],
    'marked before the pod goes',
  );
  const marked = { ...deleting, claims: [{ ...claim, scaledIn: true }] };
  assert.deepEqual(kinds(observed([cordoned], [drained], { replicas: 0, ...marked })), ['delete-worker']);
  assert.deepEqual(kinds(observed([], [], { replicas: 0, ...marked })), ['delete-claim']);
  const rolling = observed([worker(0, { revision: 'r0' })], [slurmNode(0)], deleting);
  assert.ok(!kinds(rolling).includes('mark-claim'));
  assert.deepEqual(
    kinds(observed([], [drained], { replicas: 1, ...deleting })),
    ['create-worker'],
    'a slot that is to be filled keeps its claim and record',
  );
});

test('upstream item 4 and law L10: unregistered workers are replaced late, few, and never all', () => {
  const three = [worker(0), worker(1), worker(2)];
  const one = observed(three, [slurmNode(0), slurmNode(1)]);
  assert.deepEqual(
    plan(one, now).condemned.map((each) => each.name),
    ['w-2'],
  );
  const young = {
    ...one,
    slurm: { ...one.slurm, controllerStartedAt: now - controllerYouth + 1 },
  } as Observed;
  assert.deepEqual(plan(young, now).condemned, []);
  const fresh = observed(
    [worker(0), worker(1), worker(2, { readySince: now - registrationGrace + 5 })],
    [slurmNode(0), slurmNode(1)],
  );
  assert.deepEqual(plan(fresh, now).condemned, []);
  assert.equal(plan(fresh, now).wakeAt, now + 5, 'and the plan knows when to look again');
  const lost = plan(observed(three, []), now);
  assert.deepEqual(lost.condemned, []);
  assert.match(lost.withheld.join(), /lost its nodes/);
});

test('upstream item 12: of two workers in one slot the better one stays', () => {
  const node = {
    name: 'n0',
    unschedulable: false,
    cordonReason: undefined,
    topology: undefined,
    features: [],
    eligible: true,
    workerHostname: 'w-0',
  };
  const slot = { mode: 'DaemonSet', nodeName: 'n0' } as const;
  const old = worker(0, { name: 'old', uid: 'uid-0', slot });
  const pending = worker(0, {
    name: 'new',
    uid: 'uid-9',
    slot,
    phase: 'Pending',
    ready: false,
    everStarted: false,
    nodeName: undefined,
  });
  const made = plan(
    observed([old, pending], [slurmNode(0)], { scalingMode: 'DaemonSet', nodes: new Map([['n0', node]]) }),
    now,
  );
  assert.deepEqual(
    made.condemned.map((each) => each.name),
    ['new'],
  );
});

test('a broken image stops a rollout at its budget (law L3)', () => {
  const workers = [
    worker(0, { revision: 'r0' }),
    worker(1, { revision: 'r0' }),
    worker(2, { revision: 'r1', ready: false, readySince: undefined, phase: 'Pending', everStarted: false }),
  ];
  const made = plan(observed(workers, [slurmNode(0), slurmNode(1)]), now);
  assert.deepEqual(made.condemned, [], 'the one new worker that is not ready uses up the budget');
});

test('partition, pause, hold and OnDelete keep old workers', () => {
  const old = [worker(0, { revision: 'r0' }), worker(1, { revision: 'r0' })];
  const nodes = [slurmNode(0), slurmNode(1)];
  const update = {
    type: 'RollingUpdate',
    maxUnavailable: 2,
    partition: 0,
    paused: false,
    reservation: undefined,
  } as const;
  const going = (over: Partial<Observed>) =>
    plan(observed(old, nodes, over), now).condemned.map((each) => each.name);
  assert.deepEqual(going({ update }).toSorted(), ['w-0', 'w-1']);
  assert.deepEqual(going({ update: { ...update, partition: 1 } }), ['w-1']);
  assert.deepEqual(going({ update: { ...update, paused: true } }), []);
  assert.deepEqual(going({ update: { ...update, type: 'OnDelete' } }), []);
  assert.deepEqual(going({ update, updateHeld: 'slurmctld is older than the new slurmd' }), []);
});

test('a scheduled update waits for its window, then takes all at once', () => {
  const old = [worker(0, { revision: 'r0' }), worker(1, { revision: 'r0' })];
  const update = {
    type: 'ScheduledUpdate',
    maxUnavailable: 1,
    partition: 0,
    paused: false,
    reservation: 'maint',
  } as const;
  const inWindow = { flags: new Set(['MAINTENANCE']), reservation: 'maint' };
  assert.deepEqual(plan(observed(old, [slurmNode(0), slurmNode(1)], { update }), now).condemned, []);
  assert.equal(
    plan(observed(old, [slurmNode(0, inWindow), slurmNode(1, inWindow)], { update }), now).condemned.length,
    2,
  );
  const other = { ...inWindow, reservation: 'somebody else’s' };
  assert.deepEqual(
    plan(observed(old, [slurmNode(0, other), slurmNode(1, other)], { update }), now).condemned,
    [],
  );
});

test('upstream item 15 and law L6: deletion drains, unless the user or the missing cluster says otherwise', () => {
  const running = [slurmNode(0, busy)];
  assert.ok(!kinds(observed([worker(0)], running, { deleting: true })).includes('delete-worker'));
  assert.ok(
    kinds(observed([worker(0)], running, { deleting: true, deletionPolicy: 'Delete' })).includes(
      'delete-worker',
    ),
  );
  assert.ok(
    kinds(
      observed([worker(0)], [], {
        deleting: true,
        controllerExists: false,
        slurm: { kind: 'unknown', since: 0, why: 'gone' },
      }),
    ).includes('delete-worker'),
  );
  assert.deepEqual(kinds(observed([], [], { deleting: true })), ['remove-finalizer']);
  assert.deepEqual(
    kinds(observed([], [], { deleting: true, slurm: { kind: 'unknown', since: 0, why: 'down' } })),
    [],
    'records may be left: wait for Slurm',
  );
  assert.deepEqual(
    kinds(observed([], [slurmNode(0)], { deleting: true })),
    ['drain'],
    'a record without its worker is drained, then deleted',
  );
});

test('upstream item 21: neither the state nor an administrator’s topology is touched when a pod moves', () => {
  const moved = slurmNode(0, { comment: '{}', topology: 'admin:rack' });
  const actions = plan(observed([worker(0)], [moved]), now).actions;
  assert.deepEqual(
    actions.map((action) => action.kind),
    ['update-node'],
  );
  assert.deepEqual(Object.keys(actions[0] ?? {}).toSorted(), ['comment', 'kind', 'slurmName']);
});

test('a cordoned Node drains its worker in the words of its annotation, and undrains when it is back', () => {
  const node = {
    name: 'n0',
    unschedulable: true,
    cordonReason: 'bad disk',
    topology: undefined,
    features: [],
    eligible: true,
    workerHostname: 'n0',
  };
  const cordon = plan(observed([worker(0)], [slurmNode(0)], { nodes: new Map([['n0', node]]) }), now).actions;
  assert.deepEqual(
    cordon.find((action) => action.kind === 'drain'),
    { kind: 'drain', slurmName: 'w-0', reason: 'slurm-operator: bad disk' },
  );
  const drained = slurmNode(0, { flags: new Set(['DRAIN']), reason: 'slurm-operator: bad disk' });
  const back = observed([worker(0, { cordoned: true, cordonCause: 'node-cordon' })], [drained], {
    nodes: new Map([['n0', { ...node, unschedulable: false }]]),
  });
  assert.deepEqual(kinds(back), ['patch-worker', 'undrain']);
});

test('a drain by a person stays, also on a worker that is to go; its words are kept', () => {
  const foreign = slurmNode(0, { flags: new Set(['DRAIN']), reason: 'bad GPU' });
  assert.deepEqual(kinds(observed([worker(0)], [foreign])), []);
  assert.deepEqual(
    kinds(observed([worker(0)], [foreign], { replicas: 0 })),
    ['patch-worker', 'delete-worker'],
    'drained is drained',
  );
  const down = slurmNode(0, { base: 'DOWN', reason: 'Not responding' });
  const drain = plan(observed([worker(0)], [down], { replicas: 0 }), now).actions.find(
    (action) => action.kind === 'drain',
  );
  assert.match(drain?.kind === 'drain' ? drain.reason : '', /\(was: Not responding\)$/);
});

test('victims go in the documented order', () => {
  const base = worker(1);
  const earlier: [string, Worker][] = [
    ['unscheduled first', worker(2, { nodeName: undefined })],
    ['then pending', worker(2, { phase: 'Pending' })],
    ['then not ready', worker(2, { ready: false })],
    ['then the lower deletion cost', worker(0, { deletionCost: -1 })],
    ['then cordoned', worker(0, { cordoned: true })],
    ['then the higher ordinal', worker(2)],
  ];
  for (const [reason, other] of earlier) assert.ok(victimOrder(now)(other, base) < 0, reason);
  assert.ok(
    victimOrder(now)(worker(0, { deadline: now + 5 }), worker(1, { deadline: now + 9 })) < 0,
    'the earlier deadline',
  );
  assert.ok(victimOrder(now)(worker(0), worker(1, { deadline: now + 9 })) < 0, 'idle before busy');
  assert.ok(
    victimOrder(now)(worker(0, { deadline: Number.POSITIVE_INFINITY }), worker(1, { deadline: now + 9 })) > 0,
    'work without a limit last',
  );
});

test('a worker that drains already is not given up for one that is idle for a moment, but for one that is done an hour sooner', () => {
  const leaving = { cordoned: true, cordonCause: 'update' } as const;
  const soon = worker(0, { ...leaving, deadline: now + 10 * 60_000 });
  const late = worker(0, { ...leaving, deadline: now + 3 * 3_600_000 });
  assert.ok(victimOrder(now)(soon, worker(1)) < 0);
  assert.ok(victimOrder(now)(late, worker(1)) > 0);
});

test('the pod says what Slurm says of its node, one condition per state, and keeps it while Slurm is unknown', () => {
  const flags = new Set(['DRAIN', 'NOT_RESPONDING', 'CLOUD']);
  const mirrored = plan(
    observed([worker(0)], [slurmNode(0, { base: 'DOWN', flags, reason: 'bad disk' })]),
    now,
  ).actions;
  const wanted = ['SlurmNodeStateDown', 'SlurmNodeStateDrain', 'SlurmNodeStateNotResponding'].map(
    (type) => [type, 'bad disk'] as const,
  );
  const conditions = new Map(wanted);
  const over = ['SlurmNodeStateIdle'];
  assert.deepEqual(mirrored, [{ kind: 'mirror-state', name: 'w-0', uid: 'uid-0', conditions, over }]);
  const unknown = { kind: 'unknown', since: 0, why: 'down' } as const;
  assert.deepEqual(
    plan(observed([worker(0, { slurmConditions: conditions })], [], { slurm: unknown }), now).actions,
    [],
  );
});

test('Slurm is asked often until a list shows what became of our last change', () => {
  const quiet = observed([worker(0)], [slurmNode(0)]);
  assert.equal(plan(quiet, now).waitsForSlurm, false);
  assert.equal(plan({ ...quiet, lastWrites: new Map([['w-0', now]]) }, now).waitsForSlurm, true);
  assert.equal(plan({ ...quiet, lastWrites: new Map([['w-0', now - 1]]) }, now).waitsForSlurm, false);
});

test('a job that has ended in one list and holds its node in the other changes no victim', () => {
  const leaving = { cordoned: true, cordonCause: 'scale-in' as const, writtenDeadline: now + 3_000_000 };
  const victim = worker(1, { ...leaving, protectedFromEviction: true });
  const drained = {
    flags: new Set(['DRAIN']),
    reason: 'slurm-operator: Pod (slurm/w-1) is pending termination for scale-in',
  };
  const other = worker(0, { writtenDeadline: now + 3_000_000, protectedFromEviction: true });
  const nodes = [
    slurmNode(0, { base: 'MIXED', deadline: now + 3_000_000 }),
    slurmNode(1, { base: 'MIXED', deadline: 'unknown', ...drained }),
  ];
  const made = plan(observed([other, victim], nodes, { replicas: 1 }), now);
  assert.deepEqual(
    made.condemned.map((one) => one.name),
    ['w-1'],
  );
  assert.deepEqual(
    made.actions.filter((action) => action.kind !== 'mirror-state'),
    [],
  );
});

test('work that nothing dates goes last, and the pod says so', () => {
  const nodes = [slurmNode(0, { base: 'MIXED', deadline: 'unknown' }), slurmNode(1, busy)];
  const made = plan(observed([worker(0), worker(1)], nodes, { replicas: 1 }), now);
  assert.deepEqual(
    made.condemned.map((one) => one.name),
    ['w-1'],
  );
  const patch = made.actions.find((action) => action.kind === 'patch-worker' && action.name === 'w-0');
  assert.equal(patch?.kind === 'patch-worker' && patch.deadline, Number.POSITIVE_INFINITY);
});

test('the topology of a worker that was placed just now waits for what Slurm says of it, but not for long', () => {
  const machine = {
    name: 'n0',
    unschedulable: false,
    cordonReason: undefined,
    topology: 'topo:rack1',
    features: [],
    eligible: true,
    workerHostname: 'n0',
  };
  const nodes = new Map([['n0', machine]]);
  const placed = worker(0, { placedAt: now - 1_000, readySince: now, slurmConditions: new Map() });
  const before = plan(observed([placed], [], { nodes }), now);
  assert.deepEqual(before.actions, []);
  assert.equal(before.wakeAt, now + 4_000);
  assert.deepEqual(kinds(observed([{ ...placed, placedAt: now - 5_000 }], [], { nodes })), ['patch-worker']);
  assert.deepEqual(
    plan(observed([placed], [slurmNode(0)], { nodes }), now).actions.map((action) => action.kind),
    ['patch-worker', 'mirror-state', 'update-node'],
  );
});

test('what an unreachable machine last reported makes no worker of it replaceable', () => {
  const stale = { revision: 'r0', ready: false, readySince: undefined };
  const condemned = (over: Partial<Worker>, more: Partial<Observed> = {}) =>
    plan(
      observed([worker(0, { ...stale, ...over }), worker(1)], [slurmNode(0, busy), slurmNode(1)], more),
      now,
    ).condemned.map((one) => one.name);
  assert.deepEqual(condemned({}), ['w-0'], 'not ready and outdated: replacing it takes nothing away');
  assert.deepEqual(condemned({ nodeReachable: false }), [], 'it may be ready, and at work, for all we know');
  const otherMode = { slot: { mode: 'DaemonSet', nodeName: 'n0' } as const };
  assert.deepEqual(condemned({ ...otherMode, nodeReachable: false }, { replicas: 1 }), []);
});

test('upstream item 17: a worker with an old sssd.conf is replaced like one of an old revision; of a new key it is told instead', () => {
  const note = 'slinky.slurm.net/sssd-conf-hash';
  const keyed = (ordinal: number, hash: string) => worker(ordinal, { hashes: { [note]: hash } });
  const condemned = (workers: Worker[], over: Partial<Observed> = {}) =>
    plan(
      observed(
        workers,
        workers.map((_, at) => slurmNode(at)),
        { hashes: { [note]: 'new' }, ...over },
      ),
      now,
    ).condemned.map((one) => one.name);
  assert.deepEqual(condemned([keyed(0, 'new'), keyed(1, 'new')]), []);
  assert.deepEqual(
    condemned([keyed(0, 'old'), keyed(1, 'old')]),
    ['w-1'],
    'one at a time: the budget is one',
  );
  assert.deepEqual(
    condemned([worker(0), worker(1)]),
    [],
    'a worker that does not say has none that is known to be old',
  );
  assert.deepEqual(
    condemned([keyed(0, 'old')], { hashes: {} }),
    [],
    'a Secret that is missing makes nobody outdated',
  );
  const paused = { ...observed([], []).update, paused: true };
  assert.deepEqual(condemned([keyed(0, 'old')], { update: paused }), [], 'a paused rollout stands still');
  const key = 'slinky.slurm.net/slurm-key-hash';
  const oldKey = worker(0, { hashes: { [key]: 'old' } });
  assert.deepEqual(
    condemned([oldKey], { hashes: { [key]: 'new' } }),
    [],
    'a drain could not end with an old key',
  );
});

test('a person’s cordon outlives the replacement of the worker, and is theirs to take away', () => {
  const cordoned = worker(0, { cordoned: true, revision: 'r0' });
  const drain = plan(observed([cordoned, worker(1)], [slurmNode(0), slurmNode(1)]), now).actions.find(
    (action) => action.kind === 'drain',
  );
  const reason = drain?.kind === 'drain' ? drain.reason : '';
  assert.match(reason, /^slurm-operator: Pod \(slurm\/w-0\) is pending termination for update/);
  const left = slurmNode(0, { flags: new Set(['DRAIN']), reason });
  const successor = observed([worker(0), worker(1)], [left, slurmNode(1)]);
  const actions = plan(successor, now).actions.filter((action) => action.kind !== 'mirror-state');
  assert.deepEqual(actions, [
    { kind: 'patch-worker', name: 'w-0', uid: 'uid-0', cordon: { cordoned: true, cause: undefined } },
    { kind: 'drain', slurmName: 'w-0', reason: 'slurm-operator: Pod (slurm/w-0) was cordoned' },
  ]);
  const scaledIn = plan(observed([cordoned], [slurmNode(0)], { replicas: 0 }), now).actions;
  assert.ok(
    scaledIn.every((action) => action.kind !== 'drain' || action.reason.endsWith('for scale-in')),
    'a place that goes takes its cordon along',
  );
});

describe('upstream item 13: DaemonSet mode follows its machines', () => {
  const machine = (name: string, over: Partial<KubeNode> = {}): [string, KubeNode] => [
    name,
    {
      name,
      unschedulable: false,
      cordonReason: undefined,
      topology: undefined,
      features: [],
      eligible: true,
      workerHostname: name,
      ...over,
    },
  ];
  const daemon = (name: string, over: Partial<Worker> = {}) =>
    worker(0, {
      name: `w-${name}`,
      slot: { mode: 'DaemonSet', nodeName: name },
      slurmName: name,
      nodeName: name,
      ...over,
    });
  const on = (name: string) => slurmNode(0, { name });
  const actions = (workers: Worker[], machines: [string, KubeNode][], nodes: SlurmNode[]) =>
    plan(observed(workers, nodes, { scalingMode: 'DaemonSet', nodes: new Map(machines) }), now);

  test('a worker whose machine is gone from Kubernetes goes too', () => {
    const made = actions([daemon('a'), daemon('b', { uid: 'uid-b' })], [machine('a')], [on('a'), on('b')]);
    assert.deepEqual(
      made.condemned.map((one) => one.name),
      ['w-b'],
    );
  });
  test('a machine that came gets one; a tainted one gets none; a cordoned one keeps its own', () => {
    const made = actions(
      [daemon('c')],
      [machine('a'), machine('b', { eligible: false }), machine('c', { unschedulable: true })],
      [on('c')],
    );
    assert.deepEqual(
      made.actions.filter((action) => action.kind === 'create-worker'),
      [{ kind: 'create-worker', slot: { mode: 'DaemonSet', nodeName: 'a' } }],
    );
    assert.deepEqual(made.condemned, []);
  });
});

test('upstream item 19: of several moments to look again the first counts, whatever else is held back for longer', () => {
  const soon = worker(0, { readySince: now - 4_000 });
  const given = observed([soon], [slurmNode(0)], {
    replicas: 2,
    minReadySeconds: 10,
    backoff: new Map([['ordinal/1', now + 15 * 60_000]]),
  });
  assert.equal(plan(given, now).wakeAt, now + 6_000);
});

test('upstream item 24: what is broken and what is only old go in one plan, and are counted together', () => {
  const workers = [
    worker(0, { revision: 'r0', ready: false, readySince: undefined }),
    worker(1, { revision: 'r0' }),
    worker(2, { revision: 'r0' }),
    worker(3),
  ];
  const update = { ...observed([], []).update, maxUnavailable: 2 };
  const made = plan(
    observed(
      workers,
      workers.map((_, at) => slurmNode(at)),
      { update },
    ),
    now,
  );
  assert.deepEqual(
    made.condemned.map((one) => one.name).toSorted(),
    ['w-0', 'w-2'],
    'one is missing anyway, one more may go',
  );
});
