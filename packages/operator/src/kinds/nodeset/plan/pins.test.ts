import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import { kubeNode, worker } from '../../../../testing/observed.ts';
import { pins, pinsForStatus, rememberedPins } from './pins.ts';

const set = (ordinalToNode: Record<string, string>, over: object = {}) =>
  ({
    spec: { pinToNode: true, scalingMode: 'StatefulSet', ...over },
    status: { ordinalToNode },
  }) as unknown as NodeSet;
const machines = (...all: ReturnType<typeof kubeNode>[]) => new Map(all.map((each) => [each.name, each]));

test('an ordinal returns to its machine while that is there and takes it', () => {
  const nodes = machines(kubeNode('a'), kubeNode('b', { eligible: false }));
  const pinned = pins(set({ 0: 'a', 1: 'b', 2: 'gone', x: 'a' }), { workers: [], nodes });
  assert.deepEqual([...pinned], [[0, 'a']], 'a machine that is cordoned or tainted takes no worker');
});

test('where a worker runs wins over where one ran, whatever the machine thinks of newcomers', () => {
  const nodes = machines(kubeNode('a'), kubeNode('b', { eligible: false }));
  const workers = [worker(0, { nodeName: 'b' }), worker(1, { nodeName: 'a', phase: 'Pending' })];
  assert.deepEqual([...pins(set({ 0: 'a' }), { workers, nodes })], [[0, 'b']]);
});

test('without pinToNode, and in DaemonSet mode, nothing is pinned, and an earlier map is removed', () => {
  const defaults = { workers: [worker(0, { nodeName: 'a' })], nodes: machines(kubeNode('a')) };
  for (const over of [{ pinToNode: false }, { scalingMode: 'DaemonSet' }])
    assert.equal(pinsForStatus(pins(set({ 0: 'a' }, over), defaults)), null);
  assert.deepEqual(pinsForStatus(pins(set({}), defaults)), { 0: 'a' });
});

test('a pin is remembered while its machine is cordoned, and forgotten with the machine', () => {
  const nodes = machines(kubeNode('a', { eligible: false, unschedulable: true }));
  const from = set({ 0: 'a', 1: 'gone' });
  assert.deepEqual([...pins(from, { workers: [], nodes })], []);
  assert.deepEqual(pinsForStatus(rememberedPins(from, { workers: [], nodes })), { 0: 'a' });
});
