import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condition, custom, hour, now, pod } from '@slurm-operator/advice/testing';
import { headline, type StatusInput, shortSpan, slurmState, statusLines } from './status-view.ts';

const ref = { controllerRef: { name: 'slurm' } };
const mirror = (...states: readonly string[]) => ({
  conditions: states.map((state) => ({
    type: `SlurmNodeState${state}`,
    status: 'True',
    message: state === 'Drain' ? 'new disk' : '',
  })),
});

const input: StatusInput = {
  cluster: custom<'clusters'>('Cluster', 'slurm', {
    spec: ref,
    status: {
      isReady: true,
      slurmVersion: '26.05.4',
      nodes: { total: 3, idle: 2, down: 1 },
      jobs: { running: 1, pending: 2 },
    },
  }),
  controllers: [custom<'controllers'>('Controller', 'slurm')],
  restApis: [
    custom<'restApis'>('RestApi', 'slurm', { spec: ref }),
    custom<'restApis'>('RestApi', 'other', { spec: { controllerRef: { name: 'other' } } }),
  ],
  accountings: [],
  loginSets: [],
  nodeSets: [
    custom<'nodeSets'>('NodeSet', 'gpu', {
      spec: { ...ref, replicas: 3 },
      status: { desired: 3, readyReplicas: 2, updatedReplicas: 3, nodeSetHash: 'new' },
      conditions: [
        condition('Ready', 'False', 'NodesDown', 'gpu-2 is down'),
        condition('Degraded', 'True', 'NodesDown', 'gpu-2 is down'),
      ],
    }),
  ],
  pods: [
    pod('gpu-0', mirror('Idle')),
    pod('gpu-1', mirror('Idle', 'Drain')),
    pod('gpu-2', mirror('Down')),
    pod('gpu-10', {
      ...mirror('Allocated', 'Drain'),
      annotations: { 'nodeset.slinky.slurm.net/pod-deadline': new Date(now + hour).toISOString() },
    }),
  ],
};
const options = { now, timeZone: 'UTC', verbose: false };

test('shows the objects of this cluster, and of the workers those that need attention', () => {
  const lines = statusLines(input, options);
  assert.deepEqual(
    lines.map(({ depth, name, status }) => [depth, name, status]),
    [
      [0, 'slurm', '✔ Ready'],
      [1, 'slurm', '✔ Ready'],
      [1, 'gpu', '✖ NodesDown'],
      [2, 'gpu-1', '◌ Drained'],
      [2, 'gpu-2', '✖ Down'],
      [2, 'gpu-10', '◌ Draining'],
    ],
  );
  assert.match(lines[3]?.info ?? '', /"new disk"/);
  assert.match(lines[5]?.info ?? '', /jobs end by 13:00/);
  assert.ok(statusLines(input, { ...options, verbose: true }).some(({ name }) => name === 'gpu-0'));
});

test('counts nodes and jobs above the tree', () => {
  assert.deepEqual(headline(input.cluster), {
    title: 'slurm · Slurm 26.05.4 · namespace slurm',
    counts: '3 nodes: 2 idle, 1 down   jobs: 1 running, 2 pending',
    health: '✔ Ready',
    tone: 'good',
  });
});

test('a worker without conditions of Slurm has not registered', () => {
  assert.deepEqual(slurmState(pod('x')), { states: [], reason: '', drain: '' });
  const lines = statusLines({ ...input, pods: [pod('gpu-0')] }, options);
  assert.equal(lines.at(-1)?.status, '◌ NotRegistered');
});

test('ages are short', () => {
  assert.deepEqual([5_000, 61_000, 3 * hour, 49 * hour, Number.NaN].map(shortSpan), [
    '5s',
    '1m',
    '3h',
    '2d',
    '',
  ]);
});
