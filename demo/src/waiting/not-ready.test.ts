import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Evidence } from './evidence.ts';
import { notReady } from './not-ready.ts';
import { showLine } from './wait-report.ts';

const nothing: Evidence = { objects: [], deployments: [], creators: [], pods: [], claims: [], events: [] };
const namespace = 'slurm-demo';
const object = (kind: string, more: object = {}) => ({
  kind,
  name: 'slurm',
  namespace,
  isReady: false,
  isDegraded: false,
  message: 'Starting: No slurmctld is active.',
  ...more,
});
const pod = (status: object, metadata: object = {}) =>
  ({ metadata: { name: 'slurm-controller-0', namespace, uid: 'u1', ...metadata }, status }) as never;
const event = (kind: string, name: string, more: object) =>
  ({ metadata: {}, regarding: { kind, name, namespace }, type: 'Warning', ...more }) as never;
const claim = (spec: object, status: object = { phase: 'Pending' }) =>
  ({ metadata: { name: 'statesave-slurm-controller-0', namespace, uid: 'c1' }, spec, status }) as never;
const refused = (kind: string, name: string, more: object = {}) =>
  event(kind, name, { reason: 'FailedCreate', note: 'pods "x" is forbidden: violates PodSecurity', ...more });
const creator = (kind: string, name: string, more: object = {}) => ({
  kind,
  name,
  namespace,
  uid: 'u',
  isComplete: false,
  ...more,
});
const unready = { conditions: [{ type: 'Ready', status: 'False' }] };

for (const [reason, evidence, expected] of [
  ['what is Ready has no line', { objects: [object('Controller', { isReady: true })] }, []],
  [
    "an object that is not Ready has its condition's message",
    { objects: [object('Controller')] },
    ['Controller slurm: Starting: No slurmctld is active.'],
  ],
  [
    'an object without a condition says so',
    { objects: [object('NodeSet', { message: undefined })] },
    ['NodeSet slurm: no condition for its current spec yet'],
  ],
  [
    'faults come first',
    {
      objects: [
        object('Cluster'),
        object('Controller', { isDegraded: true, message: 'CrashLooping: pod slurm-controller-0: fatal' }),
      ],
    },
    [
      'Controller slurm: CrashLooping: pod slurm-controller-0: fatal',
      'Cluster slurm: Starting: No slurmctld is active.',
    ],
  ],
  [
    'a pod that a condition names has no line of its own',
    {
      objects: [object('Controller', { message: 'CrashLooping: pod slurm-controller-0: fatal' })],
      pods: [pod(unready)],
    },
    ['Controller slurm: CrashLooping: pod slurm-controller-0: fatal'],
  ],
  [
    'a pod that no node takes quotes the scheduler',
    {
      pods: [
        pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }] }),
      ],
    },
    ['Pod slurm-controller-0: no node takes it: 0/3 nodes are available'],
  ],
  [
    'a crashing container is quoted by the last line that mentions an error',
    {
      pods: [
        pod({
          ...unready,
          containerStatuses: [
            {
              name: 'mariadb',
              state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
              lastState: { terminated: { exitCode: 1, message: 'begin\nfatal: no room\nbye\n' } },
            },
          ],
        }),
      ],
    },
    ['Pod slurm-controller-0: container mariadb: CrashLoopBackOff: fatal: no room'],
  ],
  [
    'an image that cannot be pulled is named as the kubelet names it',
    {
      pods: [
        pod({
          ...unready,
          initContainerStatuses: [
            { name: 'init', state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } },
          ],
        }),
      ],
    },
    ['Pod slurm-controller-0: container init: ImagePullBackOff: no such image'],
  ],
  [
    'a pod without container states is explained by its newest warning, of this pod and not of its predecessor',
    {
      pods: [
        pod({ containerStatuses: [{ name: 'c', state: { waiting: { reason: 'ContainerCreating' } } }] }),
      ],
      events: [
        event('Pod', 'slurm-controller-0', {
          reason: 'FailedMount',
          note: 'secret "x" not found',
          eventTime: '2026-01-01T00:00:02Z',
        }),
        event('Pod', 'slurm-controller-0', {
          reason: 'FailedMount',
          note: 'older',
          eventTime: '2026-01-01T00:00:01Z',
        }),
        event('Pod', 'slurm-controller-0', {
          reason: 'Killed',
          note: 'of another pod',
          eventTime: '2026-01-01T00:00:03Z',
          regarding: { kind: 'Pod', name: 'slurm-controller-0', namespace, uid: 'other' },
        }),
      ],
    },
    ['Pod slurm-controller-0: FailedMount: secret "x" not found'],
  ],
  [
    'a pod that only starts says so, after every fault',
    {
      pods: [
        pod({}),
        pod({ ...unready, containerStatuses: [{ name: 'c', state: { running: {} } }] }, { name: 'b' }),
      ],
    },
    ['Pod slurm-controller-0: its containers are being started', 'Pod b: runs and is not ready yet'],
  ],
  [
    'finished and ready pods have no line',
    { pods: [pod({ phase: 'Succeeded' }), pod({ conditions: [{ type: 'Ready', status: 'True' }] })] },
    [],
  ],
  [
    'a claim of a class that does not exist quotes the event',
    {
      claims: [claim({ storageClassName: 'fast' })],
      events: [
        event('PersistentVolumeClaim', 'statesave-slurm-controller-0', {
          reason: 'ProvisioningFailed',
          note: 'storageclass.storage.k8s.io "fast" not found',
        }),
      ],
    },
    [
      'PersistentVolumeClaim statesave-slurm-controller-0: Pending: storageclass.storage.k8s.io "fast" not found',
    ],
  ],
  [
    'a claim without a class and without events points at the default class; a bound one has no line',
    { claims: [claim({}), claim({}, { phase: 'Bound' })] },
    [
      'PersistentVolumeClaim statesave-slurm-controller-0: Pending: it names no StorageClass, and the cluster may have no default one',
    ],
  ],
  [
    'pods that Pod Security refuses are reported by the event of their controller while it lacks pods',
    {
      events: [refused('ReplicaSet', 'slurm-restapi-5d4')],
      creators: [creator('ReplicaSet', 'slurm-restapi-5d4')],
    },
    ['ReplicaSet slurm-restapi-5d4: pods "x" is forbidden: violates PodSecurity'],
  ],
  [
    'an event about refused pods is over when the controller has all its pods, or is gone',
    {
      events: [refused('ReplicaSet', 'slurm-restapi-5d4'), refused('StatefulSet', 'removed')],
      creators: [creator('ReplicaSet', 'slurm-restapi-5d4', { isComplete: true })],
    },
    [],
  ],
  [
    'an event about refused pods of an earlier controller of the same name is over',
    {
      events: [
        refused('StatefulSet', 'slurm-controller', {
          regarding: { kind: 'StatefulSet', name: 'slurm-controller', namespace, uid: 'old' },
        }),
      ],
      creators: [creator('StatefulSet', 'slurm-controller', { uid: 'new' })],
    },
    [],
  ],
  [
    'an event about refused workers is over when the NodeSet is Ready',
    {
      events: [refused('NodeSet', 'slurm'), refused('Job', 'import')],
      objects: [object('NodeSet', { isReady: true })],
    },
    ['Job import: pods "x" is forbidden: violates PodSecurity'],
  ],
  [
    'a Deployment has a line only while no pod of it has one',
    {
      deployments: [
        {
          metadata: { name: 'operator', namespace, generation: 1 },
          spec: { replicas: 2, selector: { matchLabels: { app: 'operator' } } },
          status: { observedGeneration: 1, availableReplicas: 1, updatedReplicas: 2 },
        },
      ] as never,
    },
    ['Deployment operator: 1 of 2 pods are available'],
  ],
] as const)
  test(reason, () => {
    assert.deepEqual(notReady({ ...nothing, ...evidence }).map(showLine), expected);
  });

test('Kubernetes calls a claim without any class normal; here it is a fault', () => {
  const events = [
    event('PersistentVolumeClaim', 'statesave-slurm-controller-0', {
      type: 'Normal',
      reason: 'FailedBinding',
      note: 'no storage class is set',
    }),
  ];
  assert.deepEqual(
    notReady({ ...nothing, claims: [claim({})], events }).map(({ isFault }) => isFault),
    [true],
  );
});

test('a long message with line breaks becomes one line', () => {
  const [line] = notReady({
    ...nothing,
    objects: [object('Controller', { message: 'a\n  b '.repeat(200) })],
  });
  assert.doesNotMatch(line?.why ?? '', /\n/);
  assert.ok((line?.why.length ?? 0) <= 600);
});
