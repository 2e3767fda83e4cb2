import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Live, Node } from '@slurm-operator/kube';
import { machineChanged } from './machine-changed.ts';

const node = (over: {
  annotations?: Record<string, string>;
  cordoned?: boolean;
  labels?: Record<string, string>;
  taints?: object[];
  ready?: string;
  beat?: string;
}) =>
  ({
    metadata: { name: 'n', annotations: over.annotations ?? {}, labels: over.labels ?? {} },
    spec: { unschedulable: over.cordoned, taints: over.taints ?? [] },
    status: {
      conditions: [
        {
          type: 'Ready',
          status: over.ready ?? 'True',
          lastHeartbeatTime: over.beat ?? '2026-01-01T00:00:00Z',
        },
      ],
    },
  }) as unknown as Live<Node>;

test('a heartbeat is no news; a cordon, a taint, a condition, a label or an annotation is', () => {
  const changed = (object: Live<Node>) =>
    machineChanged({ type: 'updated', key: 'n', object, previous: node({}) });
  assert.equal(changed(node({ beat: '2026-01-01T00:05:00Z' })), false);
  assert.equal(changed(node({ cordoned: true })), true);
  assert.equal(changed(node({ ready: 'Unknown' })), true);
  assert.equal(changed(node({ taints: [{ key: 'gpu', effect: 'NoSchedule' }] })), true);
  assert.equal(changed(node({ labels: { rack: '7' } })), true);
  assert.equal(changed(node({ annotations: { 'topology.slinky.slurm.net/spec': 'a:b' } })), true);
  assert.equal(machineChanged({ type: 'added', key: 'n', object: node({}) }), true);
});
