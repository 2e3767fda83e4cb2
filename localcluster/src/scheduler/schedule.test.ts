import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '@slurm-operator/kube/testing';
import fc from 'fast-check';
import type { Node, Pod } from '../objects/objects.ts';
import { addPod, removePod, requestsOf, viewNode } from './node-view.ts';
import { schedulePod } from './schedule.ts';

let count = 0;
function aNode(
  name: string,
  { spec = {}, labels = {}, capacity = {} }: { spec?: object; labels?: object; capacity?: object } = {},
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '10', ...capacity } },
  } as unknown as Node;
}

function podWith(spec: object = {}, labels: object = {}, requests: object = {}): Pod {
  count += 1;
  return aPod({
    metadata: { name: `p${count}`, uid: `uid-${count}`, labels },
    spec: { containers: [{ name: 'c', resources: { requests } }], ...spec },
  });
}

const place = (pod: Pod, nodes: readonly { node: Node; pods?: readonly Pod[] }[]) =>
  schedulePod(
    pod,
    nodes.map(({ node, pods = [] }) => viewNode(node, pods)),
  );

const apart = (labels: object) => ({
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  },
});

const refusals: readonly { reason: string; pod: Pod; nodes: Parameters<typeof place>[1]; says: string }[] = [
  { reason: 'no nodes at all', pod: podWith(), nodes: [], says: 'no nodes available to schedule pods' },
  {
    reason: 'too little of two things on one node',
    pod: podWith({}, {}, { cpu: '9', memory: '9Gi' }),
    nodes: [{ node: aNode('a') }],
    says: '0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
  },
  {
    reason: 'a full node whose pods are as important',
    pod: podWith({}, {}, { cpu: '3' }),
    nodes: [{ node: aNode('a'), pods: [podWith({}, {}, { cpu: '2' })] }],
    says: '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  },
  {
    reason: 'each node has its own reason',
    pod: podWith({ nodeSelector: { disk: 'ssd' } }),
    nodes: [
      { node: aNode('a', { spec: { unschedulable: true } }) },
      { node: aNode('b', { spec: { taints: [{ key: 'team', value: 'x', effect: 'NoSchedule' }] } }) },
      { node: aNode('c') },
    ],
    says: "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {team: x}, 1 node(s) were unschedulable. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
  },
  {
    reason: 'one of a kind per node',
    pod: podWith(apart({ app: 'web' }), { app: 'web' }),
    nodes: [{ node: aNode('a'), pods: [podWith({}, { app: 'web' })] }],
    says: "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    reason: 'another pod does not want it there',
    pod: podWith({}, { app: 'web' }),
    nodes: [{ node: aNode('a'), pods: [podWith(apart({ app: 'web' }))] }],
    says: "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    reason: 'a taken host port',
    pod: podWith({ containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] }),
    nodes: [
      {
        node: aNode('a'),
        pods: [podWith({ containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] })],
      },
    ],
    says: "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
  },
  {
    reason: 'more pods than the node takes',
    pod: podWith(),
    nodes: [{ node: aNode('a', { capacity: { pods: '1' } }), pods: [podWith()] }],
    says: '0/1 nodes are available: 1 Too many pods. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  },
];

for (const { reason, pod, nodes, says } of refusals)
  test(`refused: ${reason}`, () => {
    const placement = place(pod, nodes);
    assert.equal('why' in placement ? placement.why : `placed on ${placement.node}`, says);
  });

test('a tolerated taint, a matching expression and the first of a group are no obstacles', () => {
  const tainted = aNode('a', {
    spec: { taints: [{ key: 'team', value: 'x', effect: 'NoSchedule' }] },
    labels: { zone: 'z1' },
  });
  const pod = podWith(
    {
      tolerations: [{ key: 'team', operator: 'Exists' }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'zone', operator: 'In', values: ['z1', 'z2'] }] },
            ],
          },
        },
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: 'group' } }, topologyKey: 'zone' },
          ],
        },
      },
    },
    { app: 'group' },
  );
  assert.deepEqual(place(pod, [{ node: tainted }]), { node: 'a' });
});

test('siblings spread over the nodes without being asked to', () => {
  const owner = { ownerReferences: [{ uid: 'set' }] };
  const sibling = () => ({ ...podWith(), metadata: { ...podWith().metadata, ...owner } }) as unknown as Pod;
  const views = ['a', 'b', 'c'].map((name) => viewNode(aNode(name)));
  const chosen = new Set<string>();
  for (let index = 0; index < 3; index++) {
    const pod = sibling();
    const placement = schedulePod(pod, views);
    assert.ok('node' in placement);
    chosen.add(placement.node);
    const view = views.find((one) => one.node.metadata.name === placement.node);
    if (view !== undefined) addPod(view, pod);
  }
  assert.equal(chosen.size, 3);
});

test('a hard spread constraint holds back what would tip the balance', () => {
  const spread = {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'x' } },
      },
    ],
  };
  const a = aNode('a', { labels: { zone: '1' } });
  const b = aNode('b', { labels: { zone: '2' } });
  const pod = podWith(spread, { app: 'x' });
  assert.deepEqual(place(pod, [{ node: a, pods: [podWith({}, { app: 'x' })] }, { node: b }]), { node: 'b' });
});

test('a soft spread constraint counts only pods with the same values of matchLabelKeys', () => {
  const spread = {
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'host',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { app: 'x' } },
        matchLabelKeys: ['hash'],
      },
    ],
  };
  const host = (name: string) => aNode(name, { labels: { host: name } });
  const [old, fresh] = ['old', 'new'].map((hash) => podWith({}, { app: 'x', hash }));
  const pod = podWith(spread, { app: 'x', hash: 'new' });
  assert.deepEqual(
    place(pod, [
      { node: host('a'), pods: [old, old] as Pod[] },
      { node: host('b'), pods: [fresh] as Pod[] },
    ]),
    { node: 'a' },
  );
});

test('a more important pod throws out the fewest of the least important', () => {
  const low = podWith({ priority: 1 }, {}, { cpu: '2' });
  const lower = podWith({ priority: 0 }, {}, { cpu: '2' });
  const placement = place(podWith({ priority: 10 }, {}, { cpu: '2' }), [
    { node: aNode('a'), pods: [low, lower] },
  ]);
  assert.ok('preempt' in placement && placement.preempt !== undefined);
  assert.deepEqual(
    placement.preempt.victims.map((pod) => pod.metadata.name),
    [lower.metadata.name],
  );
});

test('init containers count by their peak, sidecars for the whole life', () => {
  const container = (cpu: string, more: object = {}) => ({ resources: { requests: { cpu } }, ...more });
  const pod = podWith({
    initContainers: [container('500m', { restartPolicy: 'Always' }), container('2')],
    containers: [container('1'), container('200m')],
  });
  assert.equal(requestsOf(pod).get('cpu'), 2500);
});

test('whatever is placed fits, and taking pods off gives everything back', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 30 }), (sizes) => {
      const views = ['a', 'b', 'c'].map((name) => viewNode(aNode(name)));
      const placed: { view: (typeof views)[number]; pod: Pod }[] = [];
      for (const size of sizes) {
        const pod = podWith({}, {}, { cpu: `${size}m` });
        const placement = schedulePod(pod, views);
        const view = views.find((one) => 'node' in placement && one.node.metadata.name === placement.node);
        if (view === undefined) {
          assert.ok(
            views.every((one) => (one.requested.get('cpu') ?? 0) + size > 4000 || one.pods.size >= 10),
          );
          continue;
        }
        addPod(view, pod);
        placed.push({ view, pod });
        assert.ok((view.requested.get('cpu') ?? 0) <= 4000);
        assert.ok(view.pods.size <= 10);
      }
      for (const { view, pod } of placed) removePod(view, pod.metadata.uid);
      assert.ok(views.every((view) => (view.requested.get('cpu') ?? 0) === 0));
    }),
    { numRuns: 50 },
  );
});
