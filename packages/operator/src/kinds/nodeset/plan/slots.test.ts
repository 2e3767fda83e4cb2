/** Which places are filled, and by whom. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kubeNode, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { KubeNode, Observed, SlurmNode, Worker } from '../model/observed.ts';
import { planWorkers } from './plan-workers.ts';

test('upstream item 12: of two workers in one slot the better one stays', () => {
  const node = kubeNode('n0', { workerHostname: 'w-0' });
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
  const made = planWorkers(
    observed([old, pending], [slurmNode(0)], { scalingMode: 'DaemonSet', nodes: new Map([['n0', node]]) }),
    now,
  );
  assert.deepEqual(
    made.toRemove.map((each) => each.name),
    ['new'],
  );
});

describe('an ordinal is free only if no object has its name, and is not filled before its time', () => {
  const slot = (ordinal: number) => ({ mode: 'StatefulSet', ordinal }) as const;
  const other = (ordinal: number) => ({
    name: `w-${ordinal}`,
    uid: 'x',
    slot: slot(ordinal),
    slurmName: `w-${ordinal}`,
  });
  const filled = (workers: Worker[], over: Partial<Observed>) =>
    planWorkers(observed(workers, [], over), now).actions.flatMap((action) =>
      action.kind === 'create-worker' && action.slot.mode === 'StatefulSet' ? [action.slot.ordinal] : [],
    );
  const cases: readonly [reason: string, workers: Worker[], over: Partial<Observed>, filled: number[]][] = [
    ['the lowest that is free', [worker(1)], { replicas: 3 }, [0, 2]],
    ['one that goes is waited for', [worker(0, { terminating: true })], { replicas: 1 }, []],
    [
      'one that goes on a machine that does not answer is not: that may be never',
      [worker(0, { terminating: true, nodeReachable: false })],
      { replicas: 1 },
      [1],
    ],
    ['an orphan is about to be a worker', [], { replicas: 1, orphans: [other(0)] }, []],
    ['one that was let go keeps its name', [], { replicas: 1, foreignPods: [other(0)] }, [1]],
    ['one that is to be let go keeps its name', [], { replicas: 1, released: [other(0)] }, [1]],
    ['one whose pods failed waits', [], { replicas: 1, backoff: new Map([['ordinal/0', now + 1]]) }, []],
    ['and not for longer', [], { replicas: 1, backoff: new Map([['ordinal/0', now]]) }, [0]],
  ];
  for (const [reason, workers, over, expected] of cases)
    test(reason, () => assert.deepEqual(filled(workers, over), expected));
});

describe('upstream item 13: DaemonSet mode follows its machines', () => {
  const machine = (name: string, over: Partial<KubeNode> = {}): [string, KubeNode] => [
    name,
    kubeNode(name, over),
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
    planWorkers(observed(workers, nodes, { scalingMode: 'DaemonSet', nodes: new Map(machines) }), now);

  test('a worker whose machine is gone from Kubernetes goes too', () => {
    const made = actions([daemon('a'), daemon('b', { uid: 'uid-b' })], [machine('a')], [on('a'), on('b')]);
    assert.deepEqual(
      made.toRemove.map((one) => one.name),
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
    assert.deepEqual(made.toRemove, []);
  });

  test('a machine that takes no new worker keeps its worker until something evicts it', () => {
    const closed = { eligible: false };
    const made = (over: Partial<KubeNode>) => {
      const { toRemove, desired } = actions([daemon('a')], [machine('a', over)], [on('a')]);
      return { toRemove: toRemove.map((one) => one.name), desired };
    };
    assert.deepEqual(made(closed), { toRemove: [], desired: 1 });
    assert.deepEqual(made({ ...closed, mayStay: false }), { toRemove: ['w-a'], desired: 0 });
    assert.deepEqual(actions([], [machine('a', closed)], []).actions, [], 'and gets no other');
    const leaving = actions([daemon('a', { terminating: true })], [machine('a', closed)], [on('a')]);
    assert.equal(leaving.desired, 0, 'one that goes is not waited for');
  });

  test('a worker that waits for its machine is not taken for one with an old host name', () => {
    const waiting = { phase: 'Pending', ready: false, everStarted: false, nodeName: undefined } as const;
    assert.deepEqual(actions([daemon('a', waiting)], [machine('a')], []).toRemove, []);
    assert.deepEqual(
      actions([daemon('a')], [machine('a', { workerHostname: 'b' })], [on('a')]).toRemove.map(
        ({ name }) => name,
      ),
      ['w-a'],
    );
  });
});

test('a NodeSet that is being deleted adopts no worker, but releases those it must', () => {
  const pod = { name: 'w-0', uid: 'x', slot: { mode: 'StatefulSet', ordinal: 0 }, slurmName: 'w-0' } as const;
  const kinds = (over: Partial<Observed>) =>
    planWorkers(observed([], [], over), now).actions.map(({ kind }) => kind);
  assert.deepEqual(kinds({ orphans: [pod], replicas: 1 }), ['adopt-worker']);
  assert.ok(!kinds({ orphans: [pod], deleting: true }).includes('adopt-worker'));
  assert.ok(kinds({ released: [pod], deleting: true }).includes('release-worker'));
  assert.ok(
    !kinds({ released: [pod], deleting: true }).includes('remove-finalizer'),
    'with the NodeSet gone the pod would be collected, if letting it go has failed',
  );
});
