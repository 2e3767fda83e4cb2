import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '@slurm-operator/kube/testing';
import type { Node, Pod } from '../../objects/objects.ts';
import { planCollection } from '../pod-collector/plan.ts';
import { evictionTime, planNode } from './plan.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const node = (ready: string | undefined, spec: object = {}) =>
  ({
    metadata: { name: 'n', uid: 'n', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
    status: {
      conditions:
        ready === undefined
          ? []
          : [{ type: 'Ready', status: ready, lastHeartbeatTime: '2026-01-01T00:00:00Z' }],
    },
  }) as unknown as Node;
const taints = (of: Node, silentMs: number, anyHealthy = true) =>
  planNode({ node: of, silentMs, anyHealthy }, now).taints?.map(
    (taint) => `${taint.key.split('/')[1]}:${taint.effect}`,
  );

test('a silent node becomes Unknown after fifty seconds, not before, and says what it never said', () => {
  assert.equal(
    planNode({ node: node('True'), silentMs: 49_000, anyHealthy: true }, now).conditions,
    undefined,
  );
  const lost = planNode({ node: node('True'), silentMs: 51_000, anyHealthy: true }, now);
  assert.deepEqual(
    lost.conditions?.map((entry) => [entry.type, entry.status, entry.reason]),
    [
      ['Ready', 'Unknown', 'NodeStatusUnknown'],
      ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
    ],
  );
});

test('taints follow the state, and eviction only while some node is healthy', () => {
  assert.deepEqual(taints(node('Unknown'), 0), ['unreachable:NoSchedule', 'unreachable:NoExecute']);
  assert.deepEqual(taints(node('Unknown'), 0, false), ['unreachable:NoSchedule']);
  assert.deepEqual(taints(node('False'), 0), ['not-ready:NoSchedule', 'not-ready:NoExecute']);
  assert.deepEqual(taints(node(undefined), 0), ['not-ready:NoSchedule']);
  assert.equal(taints(node('True'), 0), undefined);
  const back = node('True', {
    taints: [
      { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
      { key: 'mine', effect: 'NoSchedule' },
    ],
  });
  assert.deepEqual(
    planNode({ node: back, silentMs: 0, anyHealthy: true }, now).taints?.map((taint) => taint.key),
    ['mine'],
  );
  assert.deepEqual(taints(node('True', { unschedulable: true }), 0), ['unschedulable:NoSchedule']);
});

const pod = (tolerations: readonly object[], more: object = {}) =>
  aPod({ metadata: more, spec: { nodeName: 'n', tolerations } });
const tainted = node('Unknown', {
  taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: '2026-01-02T03:04:05Z' }],
});

test('a pod stays as long as its patience says', () => {
  const tolerate = (seconds?: number) => ({
    key: 'node.kubernetes.io/unreachable',
    operator: 'Exists',
    effect: 'NoExecute',
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
  });
  assert.equal(evictionTime(pod([]), tainted), now);
  assert.equal(evictionTime(pod([tolerate(300)]), tainted), now + 300_000);
  assert.equal(evictionTime(pod([tolerate()]), tainted), undefined);
  assert.equal(evictionTime(pod([], { deletionTimestamp: 'x' }), tainted), undefined);
  assert.equal(evictionTime(pod([]), node('True')), undefined);
});

test('pods are collected from nodes that are gone, and from those an administrator says are off', () => {
  const collect = (of: Pod, nodes: readonly Node[], gone: readonly string[] = []) =>
    planCollection({
      pods: [of],
      nodes: new Map(nodes.map((one) => [one.metadata.name, one])),
      gone: new Set(gone),
    }).map((entry) => entry.message);
  const ending = pod([], { deletionTimestamp: 'x' });
  assert.deepEqual(collect(pod([]), [], ['n']), ['PodGC: node no longer exists']);
  assert.deepEqual(collect(pod([]), []), [], 'its node may only be late');
  assert.deepEqual(collect(ending, [node('Unknown')]), [], 'it may still be running');
  const off = node('Unknown', {
    taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }],
  });
  assert.deepEqual(collect(ending, [off]), ['PodGC: node is out of service']);
  assert.deepEqual(collect(pod([]), [off]), [], 'only what is being deleted');
});
