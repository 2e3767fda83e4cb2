import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condition, custom, hour, now, pod } from '@slurm-operator/advice/testing';
import { areHealthy, headline, type StatusInput, shortSpan, slurmState, statusLines } from './status-view.ts';

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

/** The cluster with this Controller and these workers, and nothing else that is not well. */
const headOf = (conditions: readonly ReturnType<typeof condition>[], more: Partial<StatusInput> = {}) => {
  const controllers = [custom<'controllers'>('Controller', 'slurm', { conditions })];
  const nodeSets = [custom<'nodeSets'>('NodeSet', 'gpu', { spec: { ...ref, replicas: 1 } })];
  const whole = { ...input, controllers, nodeSets, pods: [], ...more };
  return headline(whole, statusLines(whole, { ...options, verbose: true }));
};
const wellOff = condition('Ready', 'True', 'AllReady', '');

test('counts nodes and jobs above the tree', () => {
  assert.deepEqual(headOf([wellOff]), {
    title: 'slurm · Slurm 26.05.4 · namespace slurm',
    counts: '3 nodes: 2 idle, 1 down   jobs: 1 running, 2 pending',
    health: '✔ Ready',
    tone: 'good',
  });
});

test('says nothing better above the tree than what is in it', () => {
  const rejected = condition('Degraded', 'True', 'ConfigRejected', 'it rejects a line');
  const held = condition('ConfigApplied', 'False', 'ConfigHeld', 'a job needs it');
  const seen = (...given: Parameters<typeof headOf>) => {
    const { health, tone } = headOf(...given);
    return [health, tone];
  };
  assert.deepEqual(seen([wellOff, rejected]), ['✖ ConfigRejected', 'bad']);
  assert.deepEqual(seen([wellOff, rejected], { nodeSets: input.nodeSets }), [
    '✖ ConfigRejected and 1 more',
    'bad',
  ]);
  assert.deepEqual(seen([wellOff, held]), ['! ConfigHeld', 'warning']);
  assert.deepEqual(seen([]), ['◌ Unknown', 'quiet'], 'its operator has said nothing yet');
  assert.deepEqual(seen([wellOff], { silence: hour }), ['! NoOperator', 'warning']);
  const drained = { ...custom<'nodeSets'>('NodeSet', 'gpu', { spec: ref }) };
  const pods = [{ ...pod('gpu-1', mirror('Idle', 'Drain')) }];
  assert.deepEqual(seen([wellOff], { nodeSets: [drained], pods }), ['◌ Drained', 'warning']);
});

test('a drained worker is a warning, which fails only where that is asked for', () => {
  const controllers = [custom<'controllers'>('Controller', 'slurm', { conditions: [wellOff] })];
  const lines = (...states: readonly string[]) => {
    const tree = { ...input, controllers, nodeSets: [], restApis: [], pods: [] };
    const nodeSets = [custom<'nodeSets'>('NodeSet', 'gpu', { spec: ref, conditions: [wellOff] })];
    return statusLines(
      { ...tree, nodeSets, pods: [pod('gpu-1', mirror(...states))] },
      { ...options, verbose: true },
    );
  };
  const healthy = (...states: readonly string[]) =>
    [false, true].map((strict) => areHealthy(lines(...states), strict));
  assert.deepEqual(healthy('Idle', 'Drain'), [true, false]);
  assert.deepEqual(healthy('Down'), [false, false]);
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
