import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonPrefix } from '@slurm-operator/api';
import { adapters } from '@slurm-operator/slurm';
import fc from 'fast-check';
import { drainClass, drainClasses } from './drain-class.ts';
import {
  drainedSamples,
  nodeStateName,
  nodeStates,
  outOfServiceSamples,
  stateSamples,
} from './node-figures.ts';

const labels = { namespace: 'hpc', cluster: 'slurm' };
const node = (name: string, state: readonly string[], more: object = {}) =>
  adapters['v0.0.45'].node({ name, state, ...more });

const states: readonly (readonly [string, string])[] = [
  ['IDLE', 'idle'],
  ['MIXED', 'mixed'],
  ['ALLOCATED', 'allocated'],
  ['IDLE COMPLETING', 'completing'],
  ['IDLE DRAIN', 'drained'],
  ['MIXED DRAIN', 'draining'],
  ['IDLE DRAIN COMPLETING', 'draining'],
  ['IDLE DRAIN UNDRAIN', 'idle'],
  ['DOWN DRAIN', 'down'],
  ['DOWN NOT_RESPONDING', 'down'],
  ['IDLE FAIL', 'down'],
  ['IDLE POWERED_DOWN', 'powered_down'],
  ['MIXED POWERING_UP', 'powering_up'],
  ['IDLE POWERING_DOWN', 'powering_down'],
  ['IDLE MAINTENANCE', 'maintenance'],
  ['IDLE NOT_RESPONDING', 'not_responding'],
  ['FUTURE', 'future'],
  ['SOMETHING_NEW', 'unknown'],
];
for (const [given, expected] of states)
  test(`a node that is ${given} is shown as ${expected}`, () => {
    assert.equal(nodeStateName(node('n', given.split(' '))), expected);
  });

const reasons: readonly (readonly [string, string, string])[] = [
  [`${reasonPrefix}Pod (hpc/w-0) is pending termination for update`, 'root', 'removal'],
  [`${reasonPrefix}the worker behind this node is gone`, 'root', 'removal'],
  [`${reasonPrefix}Node (m1) was cordoned, Pod (hpc/w-0) must be cordoned`, 'root', 'node-cordon'],
  [`${reasonPrefix}Pod (hpc/w-0) was cordoned`, 'root', 'pod-cordon'],
  [`${reasonPrefix}Node condition GpuBroken: (XidError: 79)`, 'root', 'node-condition'],
  [`${reasonPrefix}no wake-up before 12:00`, 'root', 'autoscale'],
  [`${reasonPrefix}autoscale.wake is Manual`, 'root', 'autoscale'],
  [`${reasonPrefix}something else`, 'root', 'operator'],
  ['NHC: check_fs_mount: /home not mounted', 'root', 'health-check'],
  ['[node_problem] gpu', 'root', 'health-check'],
  ['Kill task failed', 'root', 'slurm'],
  ['Prolog error', 'slurm', 'slurm'],
  ['Not responding', 'slurm', 'slurm'],
  ['gres/gpu count reported lower than configured (1 < 2)', 'slurm', 'slurm'],
  ['bad disk', 'alice', 'person'],
  ['memory is bad', 'alice', 'person'],
  ['', 'root', 'person'],
];
for (const [reason, reasonSetBy, expected] of reasons)
  test(`a drain in the words "${reason}" by ${reasonSetBy} is of class ${expected}`, () => {
    assert.equal(drainClass({ reason, reasonSetBy }), expected);
  });

test('whatever Slurm reports, states and classes are of the documented lists, and a node has one series', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 10 }),
      fc.array(fc.constantFrom('IDLE', 'DOWN', 'MIXED', 'DRAIN', 'FAIL', 'UNDRAIN', 'COMPLETING', 'X')),
      fc.string(),
      (names, state, reason) => {
        const nodes = names.map((name) => node(name, state, { reason, reason_changed_at: 5 }));
        const shown = stateSamples(labels, nodes);
        assert.equal(new Set(shown.map((sample) => sample.labels['node'])).size, names.length);
        assert.equal(shown.length, names.length);
        for (const sample of shown)
          assert.ok((nodeStates as readonly string[]).includes(sample.labels['state'] ?? ''));
        const drained = drainedSamples(labels, nodes);
        assert.deepEqual(
          drained.map((sample) => sample.labels['class']),
          [...drainClasses],
        );
        const out = outOfServiceSamples(labels, nodes, 60_000);
        const isDrainedOnly = (name: string | undefined) => name === 'drained' || name === 'draining';
        assert.equal(
          drained.reduce((sum, { value }) => sum + value, 0),
          out.filter((sample) => isDrainedOnly(sample.labels['state'])).length,
        );
      },
    ),
  );
});

test('tells the NodeSet and how long a node has been out of service', () => {
  const comment = JSON.stringify({ namespace: 'hpc', podName: 'gpu-0', nodeSetName: 'gpu', nodeSetUID: 'u' });
  const nodes = [
    node('gpu-0', ['IDLE', 'DRAIN'], {
      comment,
      reason: 'bad disk',
      reason_set_by_user: 'alice',
      reason_changed_at: { set: true, number: 100 },
    }),
    node('login', ['IDLE'], { reason: 'an old drain', reason_changed_at: { set: true, number: 100 } }),
  ];
  assert.deepEqual(outOfServiceSamples(labels, nodes, 160_000), [
    { labels: { ...labels, nodeset: 'gpu', node: 'gpu-0', state: 'drained', class: 'person' }, value: 60 },
  ]);
  assert.deepEqual(
    stateSamples(labels, nodes).map((sample) => sample.labels['nodeset']),
    ['gpu', ''],
  );
});
