import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@slurm-operator/kube';
import { kubeNode } from '../../../../testing/observed.ts';
import { distinctHostnames, isNodeReachable, observeNode } from './observe-node.ts';

/** A rule without a time. */
const explains = (type: string) => ({ type, status: 'True', drainAfterMs: undefined }) as const;

test('a machine that is back counts as reachable when its kubelet has had time to report', () => {
  const node = (status: 'True' | 'False' | 'Unknown', since: string): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', creationTimestamp: '2025-01-01T00:00:00Z' },
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: since }] },
  });
  const now = Date.parse('2026-01-01T00:01:00Z');
  assert.equal(isNodeReachable(node('True', '2026-01-01T00:00:00Z'), now), true);
  assert.equal(isNodeReachable(node('True', '2026-01-01T00:00:50Z'), now), false, 'just back');
  const joined = { ...node('True', '2026-01-01T00:00:50Z') };
  joined.metadata = { ...joined.metadata, creationTimestamp: '2026-01-01T00:00:40Z' };
  assert.equal(isNodeReachable(joined, now), true, 'a machine that has just joined has no past to tell');
  assert.equal(isNodeReachable(node('Unknown', '2026-01-01T00:00:00Z'), now), false);
  assert.equal(isNodeReachable(undefined, now), false, 'an unknown machine');
});

test('what a Node’s annotations say is used only when it is fit for Slurm', () => {
  const of = (annotations: Record<string, string>) =>
    observeNode(
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'rack1.example.org', annotations } },
      {},
      [],
    );
  assert.equal(of({}).workerHostname, 'rack1', 'the first label of the name');
  assert.equal(of({ 'nodeset.slinky.slurm.net/hostname-override': 'gpu7' }).workerHostname, 'gpu7');
  assert.equal(
    of({ 'nodeset.slinky.slurm.net/hostname-override': 'a b\nState=DOWN' }).workerHostname,
    'rack1',
  );
  assert.equal(
    of({ 'nodeset.slinky.slurm.net/node-cordon-reason': ' bad\n\u0007disk ' }).cordonReason,
    'bad disk',
  );
  assert.deepEqual(of({ 'features.slinky.slurm.net/spec': 'fast, big disk,ok' }).features, ['fast', 'ok']);
  assert.equal(of({ 'topology.slinky.slurm.net/spec': 'topo:s1\nx' }).topology, undefined);
});

test('machines that are named by their address do not all have the same worker', () => {
  const hostname = (name: string) =>
    observeNode({ apiVersion: 'v1', kind: 'Node', metadata: { name } }, {}, []).workerHostname;
  assert.equal(hostname('10.0.1.23'), '10-0-1-23');
  assert.notEqual(hostname('10.0.1.23'), hostname('10.0.2.23'));
  assert.equal(hostname('10.rack.example.org'), '10', 'a name that begins with a number is a name');
});

test('propagated conditions explain a cordon that has no reason of its own', () => {
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n' },
    spec: { unschedulable: true },
    status: {
      conditions: [
        { type: 'GpuFault', status: 'True', reason: 'Xid79', message: 'GPU fell off the bus' },
        { type: 'Ready', status: 'True' },
        { type: 'DiskFault', status: 'False', reason: 'Healthy', message: 'the disk works' },
      ],
    },
  };
  assert.equal(
    observeNode(node, {}, [explains('DiskFault')]).cordonReason,
    undefined,
    'what is not so explains nothing',
  );
  assert.equal(observeNode(node, {}, [explains('GpuFault')]).cordonReason, '(Xid79: GPU fell off the bus)');
  assert.equal(observeNode(node, {}, []).cordonReason, undefined);
});

const created: Record<string, number> = {
  'node1.rack2': 1,
  'node1.rack1': 2,
  'node1.rack3': 3,
  'node2.rack1': 4,
};

function names(...nodes: string[]): Record<string, string> {
  const machines = new Map(
    nodes.map((name) => [name, kubeNode(name, { workerHostname: name.split('.')[0] ?? '' })]),
  );
  const distinct = distinctHostnames(machines, (node) => created[node] ?? 0);
  return Object.fromEntries([...distinct].map(([name, node]) => [name, node.workerHostname]));
}

test('Nodes that share the first part of their names have workers of different names; the first Node keeps the short one', () => {
  assert.deepEqual(names('node1.rack1', 'node1.rack2', 'node1.rack3', 'node2.rack1'), {
    'node1.rack1': 'node1-rack1',
    'node1.rack2': 'node1',
    'node1.rack3': 'node1-rack3',
    'node2.rack1': 'node2',
  });
});

test('where all differ nothing changes', () => {
  assert.deepEqual(names('node1.rack1', 'node2.rack1'), { 'node1.rack1': 'node1', 'node2.rack1': 'node2' });
});
