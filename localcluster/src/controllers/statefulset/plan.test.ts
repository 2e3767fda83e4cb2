import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '@slurm-operator/kube/testing';
import fc from 'fast-check';
import type { Pod, StatefulSet } from '../../objects/objects.ts';
import { type Action, type Observed, ordinalOf, planStatefulSet } from './plan.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const metadata = (name: string, uid: string) => ({
  name,
  namespace: 'ns',
  uid,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
});

function aSet(spec: object = {}, status?: object): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadata('web', 'set'),
    spec: {
      replicas: 3,
      serviceName: 'web',
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'a' }] } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  } as unknown as StatefulSet;
}

/** The name the plan gives the template's revision. */
function revisionOf(set: StatefulSet): string {
  const plan = planStatefulSet({ set, pods: [], revisions: [], claims: new Map() }, now);
  return plan.status.updateRevision ?? '';
}

interface PodState {
  readonly ready?: boolean;
  readonly revision?: string;
  readonly deleting?: boolean;
  readonly phase?: string;
}

function podOf(set: StatefulSet, ordinal: number, state: PodState = {}): Pod {
  const { ready = true, revision = revisionOf(set), deleting = false, phase = 'Running' } = state;
  return aPod({
    metadata: {
      ...metadata(`web-${ordinal}`, `pod-${ordinal}`),
      labels: { app: 'web', 'controller-revision-hash': revision },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set', controller: true },
      ],
      ...(deleting ? { deletionTimestamp: '2026-01-02T00:00:00Z' } : {}),
    },
    status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  });
}

const observe = (set: StatefulSet, pods: readonly Pod[] = []): Observed => ({
  set,
  pods,
  revisions: [],
  claims: new Map(),
});
const about = (actions: readonly Action[], what: 'createPod' | 'deletePod') =>
  actions.flatMap((action) => (action.do === what ? [action.pod.metadata.name] : []));

const table: readonly {
  readonly reason: string;
  readonly set: StatefulSet;
  readonly pods: (set: StatefulSet) => Pod[];
  readonly creates?: readonly string[];
  readonly deletes?: readonly string[];
}[] = [
  {
    reason: 'an empty set begins with its lowest ordinal only',
    set: aSet(),
    pods: () => [],
    creates: ['web-0'],
  },
  {
    reason: 'Parallel makes all at once',
    set: aSet({ podManagementPolicy: 'Parallel' }),
    pods: () => [],
    creates: ['web-0', 'web-1', 'web-2'],
  },
  {
    reason: 'ordinals may begin elsewhere',
    set: aSet({ podManagementPolicy: 'Parallel', ordinals: { start: 5 }, replicas: 2 }),
    pods: () => [],
    creates: ['web-5', 'web-6'],
  },
  {
    reason: 'the next waits until the last is ready',
    set: aSet(),
    pods: (set) => [podOf(set, 0, { ready: false })],
  },
  { reason: 'and comes when it is', set: aSet(), pods: (set) => [podOf(set, 0)], creates: ['web-1'] },
  {
    reason: 'a pod that is going away holds its name: nothing replaces it',
    set: aSet({ replicas: 1 }),
    pods: (set) => [podOf(set, 0, { deleting: true })],
  },
  {
    reason: 'a failed pod is deleted and created again',
    set: aSet({ replicas: 1 }),
    pods: (set) => [podOf(set, 0, { phase: 'Failed', ready: false })],
    deletes: ['web-0'],
  },
  {
    reason: 'scale-down takes the highest first, one at a time',
    set: aSet({ replicas: 1 }),
    pods: (set) => [podOf(set, 0), podOf(set, 1), podOf(set, 2)],
    deletes: ['web-2'],
  },
  {
    reason: 'a rollout begins at the top',
    set: aSet(),
    pods: (set) => [0, 1, 2].map((ordinal) => podOf(set, ordinal, { revision: 'web-old' })),
    deletes: ['web-2'],
  },
  {
    reason: 'and waits for what it replaced',
    set: aSet(),
    pods: (set) => [
      podOf(set, 0, { revision: 'web-old' }),
      podOf(set, 1, { revision: 'web-old' }),
      podOf(set, 2, { ready: false }),
    ],
  },
  {
    reason: 'a partition stops it',
    set: aSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } }),
    pods: (set) => [
      podOf(set, 0, { revision: 'web-old' }),
      podOf(set, 1, { revision: 'web-old' }),
      podOf(set, 2),
    ],
  },
  {
    reason: 'OnDelete touches nothing',
    set: aSet({ updateStrategy: { type: 'OnDelete' } }),
    pods: (set) => [0, 1, 2].map((ordinal) => podOf(set, ordinal, { revision: 'web-old' })),
  },
];

for (const { reason, set, pods, creates = [], deletes = [] } of table)
  test(reason, () => {
    const { actions } = planStatefulSet(observe(set, pods(set)), now);
    assert.deepEqual(about(actions, 'createPod'), creates);
    assert.deepEqual(about(actions, 'deletePod'), deletes);
  });

test('a claim is owned by the set, or by the pod that is removed, as its retention policy says', () => {
  const set = aSet({
    replicas: 1,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }],
  });
  const claim = (ordinal: number) =>
    [
      `data-web-${ordinal}`,
      { metadata: metadata(`data-web-${ordinal}`, `claim-${ordinal}`), spec: {} },
    ] as const;
  const claims = new Map([claim(0), claim(1)]) as unknown as Observed['claims'];
  const { actions } = planStatefulSet({ ...observe(set, [podOf(set, 0), podOf(set, 1)]), claims }, now);
  const owners = actions.flatMap((action) =>
    action.do === 'ownClaim' ? [[action.claim.metadata.name, action.owners.map((owner) => owner.kind)]] : [],
  );
  assert.deepEqual(owners, [
    ['data-web-0', ['StatefulSet']],
    ['data-web-1', ['Pod']],
  ]);
});

test('names that are no ordinal of the set are not its pods', () => {
  const set = aSet();
  const named = (name: string) => ({ ...podOf(set, 0), metadata: metadata(name, 'x') }) as Pod;
  assert.deepEqual(
    ['web-0', 'web-12', 'web-01', 'web-', 'web-a', 'other-1'].map((name) => ordinalOf(set, named(name))),
    [0, 12, undefined, undefined, undefined, undefined],
  );
});

/** Plays a set to its end: creates appear ready, deletes disappear. */
function play(set: StatefulSet, start: readonly Pod[]): { pods: Pod[]; widest: number; steps: number } {
  let pods = [...start];
  let widest = 0;
  for (let steps = 0; steps < 100; steps++) {
    const { actions } = planStatefulSet(observe(set, pods), now);
    const creates = about(actions, 'createPod');
    const deletes = about(actions, 'deletePod');
    widest = Math.max(widest, creates.length + deletes.length);
    if (creates.length + deletes.length === 0) return { pods, widest, steps };
    pods = [
      ...pods.filter((pod) => !deletes.includes(pod.metadata.name)),
      ...creates.map((name) => podOf(set, Number(name.slice(4)))),
    ];
  }
  throw new Error('it never came to rest');
}

test('from any start a set comes to rest with just its ordinals on its revision, OrderedReady one step at a time', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5 }),
      fc.boolean(),
      fc.uniqueArray(fc.integer({ min: 0, max: 7 })),
      fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      (replicas, parallel, ordinals, old) => {
        const set = aSet({ replicas, podManagementPolicy: parallel ? 'Parallel' : 'OrderedReady' });
        const start = ordinals.map((ordinal) =>
          podOf(set, ordinal, old[ordinal] === true ? { revision: 'web-old' } : {}),
        );
        const { pods, widest } = play(set, start);
        assert.deepEqual(
          pods.map((pod) => ordinalOf(set, pod) ?? -1).toSorted((a, b) => a - b),
          Array.from({ length: replicas }, (_, index) => index),
        );
        assert.ok(pods.every((pod) => pod.metadata.labels?.['controller-revision-hash'] === revisionOf(set)));
        if (!parallel) assert.ok(widest <= 1);
      },
    ),
  );
});
