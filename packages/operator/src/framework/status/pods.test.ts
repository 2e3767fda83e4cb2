import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podFacts as pod } from '../../../testing/objects.ts';
import { summaryConditions } from './conditions.ts';
import { type PodFacts, podProblems } from './pods.ts';

const away = { ready: false, running: false } as const;
const cases: readonly {
  readonly name: string;
  readonly pods: readonly PodFacts[];
  readonly reason: string;
  readonly ready: string;
  readonly degraded: string;
  readonly says?: RegExp;
}[] = [
  { name: 'all pods are ready', pods: [pod()], reason: 'Ready', ready: 'True', degraded: 'False' },
  { name: 'there is none yet', pods: [], reason: 'Starting', ready: 'False', degraded: 'False' },
  {
    name: 'one was killed and comes back',
    pods: [pod({ ready: false, restarts: 1, lastLogLine: 'signal 9' })],
    reason: 'Starting',
    ready: 'False',
    degraded: 'False',
    says: /restarted 1 time; last log line: signal 9/,
  },
  {
    name: 'one ends again and again',
    pods: [pod({ ...away, waiting: 'CrashLoopBackOff', lastLogLine: 'fatal: no' })],
    reason: 'CrashLooping',
    ready: 'False',
    degraded: 'True',
    says: /CrashLoopBackOff: fatal: no/,
  },
  {
    name: 'an image is missing',
    pods: [pod({ ...away, waiting: 'ImagePullBackOff' })],
    reason: 'ImagePullFailed',
    ready: 'False',
    degraded: 'True',
  },
  {
    name: 'no node takes it',
    pods: [pod({ ...away, unschedulable: '0/3 nodes' })],
    reason: 'PodsUnschedulable',
    ready: 'False',
    degraded: 'True',
  },
  {
    name: 'its node is lost, whatever the pod said last',
    pods: [pod({ ...away, lostWith: 'node-2', waiting: 'CrashLoopBackOff' })],
    reason: 'PodsNotReady',
    ready: 'False',
    degraded: 'True',
    says: /node node-2 does not answer.*kubectl taint node node-2 node\.kubernetes\.io\/out-of-service=nodeshutdown:NoExecute" or delete the Node/,
  },
  {
    name: 'its volume is on a lost node',
    pods: [
      pod({
        ...away,
        unschedulable: '0/3 nodes are available: 2 node(s) had volume node affinity conflict.',
        boundTo: ['node-2'],
      }),
    ],
    reason: 'PodsUnschedulable',
    ready: 'False',
    degraded: 'True',
    says: /affinity conflict\. Its volume exists on node node-2, which does not answer, and cannot move: bring the node back/,
  },
  {
    name: 'its volume is on a node that does not take it, in the words of newer Kubernetes',
    pods: [pod({ ...away, unschedulable: "2 node(s) didn't match PersistentVolume's node affinity." })],
    reason: 'PodsUnschedulable',
    ready: 'False',
    degraded: 'True',
    says: /Its volume exists on a node that does not take the pod/,
  },
  {
    name: 'a standby is lost while another is active',
    pods: [pod(), pod({ ...away, name: 'pod-1', lostWith: 'node-2' })],
    reason: 'Ready',
    ready: 'True',
    degraded: 'True',
  },
  {
    name: 'a standby crashes while another is active',
    pods: [pod(), pod({ ...away, name: 'pod-1', waiting: 'CrashLoopBackOff' })],
    reason: 'Ready',
    ready: 'True',
    degraded: 'True',
  },
];

for (const { name, pods, reason, ready, degraded, says } of cases)
  test(`${name}: Ready ${ready} (${reason}), Degraded ${degraded}`, () => {
    const [isReady, , isDegraded] = summaryConditions(podProblems(pods, 'hpc', 'nothing yet.'), 'well');
    assert.deepEqual([isReady?.status, isReady?.reason, isDegraded?.status], [ready, reason, degraded]);
    if (says !== undefined) assert.match(isReady?.message ?? '', says);
  });
