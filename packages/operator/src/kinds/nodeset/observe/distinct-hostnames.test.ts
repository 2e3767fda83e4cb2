import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeNode } from '../../../../testing/observed.ts';
import { distinctHostnames } from './distinct-hostnames.ts';

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
