/** Who is drained, in which words, and who is undrained again. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cleanReason } from '@slurm-operator/slurm';
import { kubeNode, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { WorkerAction } from '../model/actions.ts';
import { cordonedPodIn } from '../model/node-comment.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { planWorkers } from './plan-workers.ts';

const ours = 'slurm-operator: Pod (slurm/w-0) is pending termination for scale-in';

/** What is decided; that conditions follow Slurm's state has a test of its own. */
const kinds = (given: Observed) =>
  planWorkers(given, now)
    .actions.map((action) => action.kind)
    .filter((kind) => kind !== 'mirror-state');

const busy = { base: 'ALLOCATED' as const, deadline: now + 60_000 };

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

describe('a node that we drained is undrained only for the slurmd of the pod that is there now', () => {
  const started = now - 300_000;
  const missed = { instanceId: 'uid-of-predecessor', address: '10.0.0.0', slurmdStartedAt: started };
  const cases: readonly [reason: string, over: Partial<SlurmNode>, undrained: boolean][] = [
    ['its instance id says so', { instanceId: 'uid-0', slurmdStartedAt: started - 3_600_000 }, true],
    ['Slurm missed the new id, but the address is the pod’s', { ...missed, slurmdStartedAt: now }, true],
    ['Slurm missed the new id, but it started with the container', { ...missed, address: '192.0.2.9' }, true],
    ['started before the container: the predecessor', { ...missed, slurmdStartedAt: started - 5_000 }, false],
    [
      'another id, another address, another time: the previous slurmd, restarted elsewhere',
      { ...missed, address: '192.0.2.9', slurmdStartedAt: now },
      false,
    ],
    ['no id at all, started after the container', { ...missed, instanceId: undefined, address: 'x' }, true],
    ['it started in the second that both cut off', { ...missed, slurmdStartedAt: started - 999 }, true],
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

test('a cordoned Node drains its worker in the words of its annotation, and undrains when it is back', () => {
  const node = kubeNode('n0', { unschedulable: true, cordonReason: 'bad disk' });
  const cordon = planWorkers(
    observed([worker(0)], [slurmNode(0)], { nodes: new Map([['n0', node]]) }),
    now,
  ).actions;
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
    planWorkers(observed([worker(0)], [foreign], { replicas: 0 }), now).actions.map((action) =>
      action.kind === 'delete-worker' ? action.because : action.kind,
    ),
    ['drained-by-other'],
    'drained is drained',
  );
  const down = slurmNode(0, { base: 'DOWN', reason: 'Not responding' });
  const drain = planWorkers(observed([worker(0)], [down], { replicas: 0 }), now).actions.find(
    (action) => action.kind === 'drain',
  );
  assert.match(drain?.kind === 'drain' ? drain.reason : '', /\(was: Not responding\)$/);
});

test('a node that a person set DOWN is drained in their words; one that Slurm set DOWN may return', () => {
  const planned = (over: Partial<SlurmNode>) =>
    planWorkers(observed([worker(0)], [slurmNode(0, { base: 'DOWN', ...over })]), now).actions.filter(
      ({ kind }) => kind === 'keep-down' || kind === 'drain',
    );
  assert.deepEqual(planned({ reason: 'bad GPU' }), [
    { kind: 'keep-down', slurmName: 'w-0', reason: 'bad GPU' },
  ]);
  for (const reason of [
    '',
    'Not responding',
    'Node unexpectedly rebooted',
    'ResumeTimeout reached',
    'Low RealMemory (reported:1 < 100.00% of configured:2)',
    'slurm-operator: the containers of Pod (w-0) have ended',
  ])
    assert.deepEqual(planned({ reason }), [], reason);
  assert.deepEqual(planned({ reason: 'bad GPU', flags: new Set(['DRAIN']) }), [], 'once');
  assert.deepEqual(planned({ reason: 'bad GPU', base: 'IDLE' }), []);
});

test('what the hook of an early upstream worker wrote are no one’s words: its successor gets work', () => {
  const reason = 'Pod is terminating';
  const drained = slurmNode(0, { flags: new Set(['DRAIN']), reason });
  assert.ok(kinds(observed([worker(0)], [drained])).includes('undrain'));
  const down = slurmNode(0, { base: 'DOWN', reason });
  assert.ok(!kinds(observed([worker(0)], [down])).includes('keep-down'));
  const gone = slurmNode(0, { base: 'DOWN', flags: new Set(['DRAIN']), reason });
  assert.ok(kinds(observed([], [gone])).includes('delete-record'));
});

describe('a user’s cordon outlives the replacement of the worker', () => {
  const cordoned = worker(0, { cordoned: true, uid: 'old', revision: 'r0' });
  const two = (first: Worker, node: SlurmNode) => observed([first, worker(1)], [node, slurmNode(1)]);
  const actionsFor = (from: Observed) =>
    planWorkers(from, now).actions.filter((action) => action.kind !== 'mirror-state');
  const commentIn = (actions: readonly WorkerAction[]) =>
    actions.find((action) => action.kind === 'update-node')?.comment;
  const draining = {
    flags: new Set(['DRAIN']),
    reason: 'slurm-operator: Pod (slurm/w-0) is pending termination for update',
  };
  const comment = commentIn(actionsFor(two(cordoned, slurmNode(0))));
  const left = slurmNode(0, { ...draining, comment: comment ?? '' });

  test('the comment of its Slurm node names the cordoned pod, also if it is being replaced', () => {
    assert.equal(cordonedPodIn(comment ?? ''), 'old');
    const again = actionsFor(two(cordoned, slurmNode(0, { ...draining, comment: comment ?? '' })));
    assert.equal(commentIn(again), undefined, 'it is written once');
    const broken = worker(0, { cordoned: true, uid: 'old', ready: false });
    assert.equal(commentIn(actionsFor(two(broken, slurmNode(0)))), comment);
  });

  test('the successor takes it over, and the comment names the successor', () => {
    const actions = actionsFor(two(worker(0), left));
    assert.deepEqual(actions.slice(0, 2), [
      {
        kind: 'patch-worker',
        name: 'w-0',
        uid: 'uid-0',
        cordon: { cordoned: true, cause: undefined },
        resourceVersion: '1',
      },
      { kind: 'drain', slurmName: 'w-0', reason: 'slurm-operator: Pod (slurm/w-0) was cordoned' },
    ]);
    assert.equal(cordonedPodIn(commentIn(actions) ?? ''), 'uid-0');
  });

  test('only the user removes it, and then the comment no longer names a pod', () => {
    const renewed = commentIn(actionsFor(two(worker(0), left))) ?? '';
    const node = slurmNode(0, { flags: new Set(['DRAIN']), reason: 'slurm-operator: x', comment: renewed });
    assert.ok(kinds(two(worker(0), node)).includes('undrain'));
    const undrained = actionsFor(two(worker(0), slurmNode(0, { comment: renewed })));
    assert.equal(cordonedPodIn(commentIn(undrained) ?? ''), undefined);
    assert.deepEqual(
      undrained.map(({ kind }) => kind),
      ['update-node'],
    );
  });

  test('a place that is scaled in loses it', () => {
    const scaledIn = actionsFor(observed([cordoned], [left], { replicas: 0 }));
    assert.notEqual(commentIn(scaledIn), undefined);
    assert.equal(cordonedPodIn(commentIn(scaledIn) ?? ''), undefined);
  });

  test('words in a reason mean nothing', () => {
    const reason = `${draining.reason}, and was cordoned`;
    assert.ok(kinds(two(worker(0), slurmNode(0, { ...draining, reason }))).includes('undrain'));
  });
});

test('a node that is down for a reason of its own is left alone while its worker stays', () => {
  const down = slurmNode(0, { base: 'DOWN', reason: 'Node unexpectedly rebooted' });
  const nodes = new Map([['n0', kubeNode('n0', { unschedulable: true })]]);
  assert.ok(!kinds(observed([worker(0)], [down], { nodes })).includes('drain'));
});

test('a drain of ours that keeps another reason is not written again', () => {
  const kept = slurmNode(0, { ...busy, flags: new Set(['DRAIN']), reason: `${ours} (was: Not responding)` });
  const given = observed([worker(0)], [kept], { replicas: 0 });
  assert.ok(!kinds(given).includes('drain'));
  const other = slurmNode(0, { ...busy, flags: new Set(['DRAIN']), reason: 'slurm-operator: another' });
  assert.ok(kinds(observed([worker(0)], [other], { replicas: 0 })).includes('drain'));
});

describe('law L11: what Slurm still counts on is set down', () => {
  const endedAt = now - 60_000;
  const dead = { phase: 'Failed', ready: false, containersDead: true, endedAt } as const;
  const stale = { flags: new Set(['DRAIN']), reason: ours, ...busy, slurmdStartedAt: endedAt - 3_600_000 };
  const cases: readonly [
    reason: string,
    setDown: boolean,
    worker: Partial<Worker>,
    node: Partial<SlurmNode>,
  ][] = [
    ['with the containers that it ran in', true, dead, stale],
    [
      'with containers of whose start Slurm has not heard',
      true,
      dead,
      { ...stale, slurmdStartedAt: undefined },
    ],
    ['not where it is none', false, dead, { ...stale, base: 'IDLE' }],
    [
      'not while a container runs, nor where it is unknown when they ended',
      false,
      { ...dead, endedAt: undefined },
      stale,
    ],
    [
      'not when slurmd was restarted since, whatever the kubelet has told so far',
      false,
      { ...dead, phase: 'Running' },
      { ...stale, slurmdStartedAt: endedAt },
    ],
  ];
  for (const [reason, setDown, over, node] of cases)
    test(reason, () => {
      const given = observed([worker(0, over)], [slurmNode(0, node)], { replicas: 0 });
      assert.equal(kinds(given).includes('set-down'), setDown);
    });
});

describe('a cordon that stays', () => {
  const cordonReason = 'power supply of rack 17 is replaced by the vendor; '.repeat(8);
  const cordoned = worker(0, { cordoned: true, cordonCause: 'node-cordon' });
  const nodes = new Map([['n0', kubeNode('n0', { unschedulable: true, cordonReason })]]);
  const first = planWorkers(observed([worker(0)], [slurmNode(0)], { nodes }), now).actions.find(
    ({ kind }) => kind === 'drain',
  );
  // What Slurm stores is what the client sends.
  const stored = cleanReason(first?.kind === 'drain' ? first.reason : '');
  const drained = (over: Partial<SlurmNode> = {}) =>
    slurmNode(0, { flags: new Set(['DRAIN']), reason: stored, ...over });

  test('with a reason that is longer than Slurm gets is written once', () => {
    assert.ok(stored.length >= 250);
    assert.deepEqual(kinds(observed([cordoned], [drained()], { nodes })), []);
  });
  test('is not polled for: nothing changes while it stays', () => {
    assert.equal(planWorkers(observed([cordoned], [drained()], { nodes }), now).waitsForSlurm, false);
    const person = worker(0, { cordoned: true });
    const reason = 'slurm-operator: Pod (slurm/w-0) was cordoned';
    assert.equal(planWorkers(observed([person], [drained({ reason })]), now).waitsForSlurm, false);
  });
  test('is polled for once it is over: the node is to be undrained', () => {
    const missed = { slurmdStartedAt: 0, instanceId: 'uid-of-predecessor' };
    assert.equal(planWorkers(observed([worker(0)], [drained(missed)]), now).waitsForSlurm, 'changes');
  });
});

test('a long reason with the words that were there before is written once', () => {
  const name = `w-${'x'.repeat(170)}-0`;
  const going = worker(0, { name, cordoned: true, cordonCause: 'scale-in' });
  const reason = `slurm-operator: Pod (slurm/${name}) is pending termination for scale-in`;
  const before = slurmNode(0, {
    base: 'DOWN',
    reason: 'a disk is broken, and a ticket is open with the vendor of it',
  });
  const [drain] = planWorkers(observed([going], [before], { replicas: 0 }), now).actions.filter(
    ({ kind }) => kind === 'drain',
  );
  const stored = cleanReason(drain?.kind === 'drain' ? drain.reason : '');
  assert.ok(stored.startsWith(reason));
  const after = slurmNode(0, { base: 'ALLOCATED', flags: new Set(['DRAIN']), reason: stored });
  assert.ok(!kinds(observed([going], [after], { replicas: 0 })).includes('drain'));
});
