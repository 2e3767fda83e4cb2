/** Which machines take the workers of a NodeSet, in both modes, by the rules of the scheduler. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyDefaults, type NodeSet, nodeSetKind } from '@slurm-operator/api';
import type { Node } from '@slurm-operator/kube';
import { observeNode } from '../observe/observe-node.ts';
import { workerPlacement } from './worker-placement.ts';

interface Case {
  readonly reason: string;
  readonly mode?: 'StatefulSet' | 'DaemonSet';
  readonly pod?: object;
  readonly node?: object;
  readonly eligible: boolean;
  readonly mayStay: boolean;
}

const taint = (key: string, effect: string, value?: string) => ({ taints: [{ key, effect, value }] });
const worker = 'nodeset.slinky.slurm.net/worker';
const k8s = 'node.kubernetes.io';
const both = { eligible: true, mayStay: true };
const neither = { eligible: false, mayStay: false };
const stays = { eligible: false, mayStay: true };

const cases: readonly Case[] = [
  { reason: 'an open machine', ...both },
  { reason: 'a machine dedicated to workers', node: taint(worker, 'NoExecute'), ...both },
  {
    reason: 'one dedicated in StatefulSet mode',
    mode: 'StatefulSet',
    node: taint(worker, 'NoExecute'),
    ...both,
  },
  {
    reason: 'a machine dedicated to some workers by a value',
    node: taint(worker, 'NoExecute', 'a'),
    ...neither,
  },
  { reason: 'a machine dedicated to others', node: taint('gpu', 'NoExecute'), ...neither },
  { reason: 'a machine with a taint', node: taint('gpu', 'NoSchedule'), ...stays },
  {
    reason: 'a taint that the template tolerates',
    pod: { tolerations: [{ key: 'gpu', operator: 'Exists' }] },
    node: taint('gpu', 'NoExecute'),
    ...both,
  },
  { reason: 'a cordoned machine keeps its own worker', node: { unschedulable: true }, ...both },
  { reason: 'so says its taint', node: taint(`${k8s}/unschedulable`, 'NoSchedule'), ...both },
  {
    reason: 'a cordoned machine takes no worker with an ordinal',
    mode: 'StatefulSet',
    node: { unschedulable: true },
    ...stays,
  },
  {
    reason: 'unless the template tolerates a cordon',
    mode: 'StatefulSet',
    pod: { tolerations: [{ key: `${k8s}/unschedulable`, operator: 'Exists' }] },
    node: { unschedulable: true },
    ...both,
  },
  {
    reason: 'a machine that is not ready for a moment',
    node: taint(`${k8s}/not-ready`, 'NoExecute'),
    ...both,
  },
  { reason: 'a new machine that is not ready yet', node: taint(`${k8s}/not-ready`, 'NoSchedule'), ...stays },
  {
    reason: 'one that is not ready, in StatefulSet mode',
    mode: 'StatefulSet',
    node: taint(`${k8s}/not-ready`, 'NoExecute'),
    ...neither,
  },
  { reason: 'a machine under pressure', node: taint(`${k8s}/memory-pressure`, 'NoSchedule'), ...both },
  {
    reason: 'a machine without a network for pods',
    node: taint(`${k8s}/network-unavailable`, 'NoSchedule'),
    ...stays,
  },
  {
    reason: 'one whose own network the worker uses',
    pod: { hostNetwork: true },
    node: taint(`${k8s}/network-unavailable`, 'NoSchedule'),
    ...both,
  },
  { reason: 'a machine that the selector does not want', pod: { nodeSelector: { a: '1' } }, ...neither },
];

function observed(mode: 'StatefulSet' | 'DaemonSet', pod: object, node: object, notes = {}) {
  const nodeSet = applyDefaults(nodeSetKind, {
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'NodeSet',
    metadata: { name: 'gpu', namespace: 'slurm' },
    spec: { controllerRef: { name: 'main' }, scalingMode: mode, template: { spec: pod } },
  } as unknown as NodeSet);
  const machine = { metadata: { name: 'm1.example.org', annotations: notes }, spec: node };
  return observeNode(machine as unknown as Node, workerPlacement(nodeSet), []);
}

describe('a machine and the workers it takes', () => {
  for (const { reason, mode = 'DaemonSet', pod = {}, node = {}, ...expected } of cases)
    test(reason, () => {
      const { eligible, mayStay } = observed(mode, pod, node);
      assert.deepEqual({ eligible, mayStay }, expected);
    });
});

test('a worker is called as its machine: the first label of its name, what an annotation says, or all of it on its network', () => {
  const override = { 'nodeset.slinky.slurm.net/hostname-override': 'rack7' };
  assert.equal(observed('DaemonSet', {}, {}).workerHostname, 'm1');
  assert.equal(observed('DaemonSet', {}, {}, override).workerHostname, 'rack7');
  assert.equal(observed('DaemonSet', { hostNetwork: true }, {}, override).workerHostname, 'm1.example.org');
});
