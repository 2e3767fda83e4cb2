/** What the cache keeps of an object must be enough for its readers: the observation is the same without the rest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Live, Node, PersistentVolumeClaim, Pod } from '@slurm-operator/kube';
import { podFacts } from '../framework/status/pods.ts';
import { observeClaim } from '../kinds/nodeset/observe/observe-claim.ts';
import { isNodeReachable, observeNode } from '../kinds/nodeset/observe/observe-node.ts';
import { observeWorker } from '../kinds/nodeset/observe/observe-worker.ts';
import { claimFields, nodeFields, podFields } from './cached-objects.ts';

const at = '2026-01-02T03:04:05Z';
const metadata = (annotations: Record<string, string>) => ({
  name: 'gpu-3',
  namespace: 'slurm',
  uid: 'u',
  resourceVersion: '7',
  creationTimestamp: at,
  deletionTimestamp: at,
  labels: {
    'app.kubernetes.io/name': 'slurmd',
    'nodeset.slinky.slurm.net/pod-index': '3',
    'nodeset.slinky.slurm.net/scaling-mode': 'StatefulSet',
    'nodeset.slinky.slurm.net/pod-protect': 'true',
    'controller.kubernetes.io/hash': 'abc',
  },
  annotations,
  ownerReferences: [{ apiVersion: 'v1', kind: 'NodeSet', name: 'gpu', uid: 'set', controller: true }],
  managedFields: [{ manager: 'kubectl' }],
});

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata({
    'nodeset.slinky.slurm.net/pod-cordon': 'true',
    'nodeset.slinky.slurm.net/pod-cordon-cause': 'update',
    'nodeset.slinky.slurm.net/pod-deadline': at,
    'nodeset.slinky.slurm.net/pod-deletion-cost': '5',
    'topology.slinky.slurm.net/spec': 'a:b',
  }),
  spec: {
    nodeName: 'n1',
    hostname: 'gpu-3',
    containers: [{ name: 'slurmd', image: 'i', resources: { limits: { cpu: '4', memory: '8Gi' } } }],
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName: 'data-gpu-3' } },
      { name: 'tmp', emptyDir: {} },
    ],
  },
  status: {
    phase: 'Running',
    podIP: '10.0.0.3',
    message: 'words',
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: at, lastProbeTime: null },
      { type: 'Ready', status: 'True', lastTransitionTime: at },
      { type: 'SlurmNodeStateDrain', status: 'True', message: 'bad disk', lastTransitionTime: at },
    ],
    initContainerStatuses: [
      {
        name: 'i',
        image: '',
        imageID: '',
        ready: true,
        restartCount: 2,
        state: { terminated: { exitCode: 0 } },
      },
    ],
    containerStatuses: [
      {
        name: 'slurmd',
        image: 'i',
        imageID: 'x',
        ready: true,
        restartCount: 1,
        state: { running: { startedAt: at } },
        lastState: { terminated: { exitCode: 3, message: 'fatal: gone' } },
      },
    ],
  },
} as unknown as Live<Pod>;

test('a pod', () => {
  const kept = podFields(structuredClone(pod));
  assert.deepEqual(
    observeWorker(kept, () => true),
    observeWorker(pod, () => true),
  );
  assert.deepEqual(podFacts(kept, undefined), podFacts(pod, undefined));
  assert.equal(kept.metadata.managedFields, undefined);
});

test('a machine', () => {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: metadata({
      'topology.slinky.slurm.net/spec': 'a:b',
      'nodeset.slinky.slurm.net/node-cordon-reason': 'r',
    }),
    spec: { unschedulable: true, taints: [{ key: 'k', effect: 'NoSchedule' }] },
    status: {
      images: [{ names: ['big'] }],
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: at },
        { type: 'Hot', status: 'True', reason: 'R', message: 'm' },
      ],
    },
  } as unknown as Live<Node>;
  const kept = nodeFields(structuredClone(node));
  const look = (one: Live<Node>) => [
    observeNode(one, {}, [{ type: 'Hot', status: 'True', drainAfterMs: 30_000 }]),
    isNodeReachable(one, Date.parse(at)),
  ];
  assert.deepEqual(look(kept), look(node));
  assert.equal((kept.status as { images?: unknown }).images, undefined);
});

test('a claim', () => {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: metadata({
      'nodeset.slinky.slurm.net/claim-slot': 'ordinal/3',
      'nodeset.slinky.slurm.net/scaled-in': 'true',
    }),
    spec: { storageClassName: 'fast' },
  } as unknown as Live<PersistentVolumeClaim>;
  const set = { name: 'gpu', uid: 'set' };
  assert.deepEqual(observeClaim(claimFields(structuredClone(claim)), set), observeClaim(claim, set));
});
