import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condition, custom, hour, now } from '@slurm-operator/advice/testing';
import type { NodeSet } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import { progressOf } from './rollout-progress.ts';

interface Given {
  readonly status?: object;
  readonly strategy?: object;
  readonly spec?: object;
  readonly progressing?: string;
  /** The message of Ready, which is False then. */
  readonly unready?: string;
}

/** Four workers, all available, of which two have the new revision. */
function seen(given: Given): string {
  const { status = {}, strategy = {}, spec = {}, progressing = 'RollingOut', unready } = given;
  const set = custom<'nodeSets'>('NodeSet', 'gpu', {
    spec: { scalingMode: 'StatefulSet', replicas: 4, updateStrategy: strategy, ...spec },
    status: {
      desired: 4,
      replicas: 4,
      availableReplicas: 4,
      updatedReplicas: 2,
      observedGeneration: 1,
      ...status,
    },
    conditions: [
      unready === undefined
        ? condition('Ready', 'True', 'Ready')
        : condition('Ready', 'False', 'PodsNotReady', unready),
      condition('Progressing', 'True', progressing),
    ],
  });
  const live = { ...set, metadata: { ...set.metadata, generation: 1 } } as unknown as Live<NodeSet>; // has the fields that are read
  const { state, text } = progressOf(live, { now, timeZone: 'UTC' });
  return `${state}: ${text}`;
}

const start = (at: number, flags?: readonly string[]) => ({
  type: 'ScheduledUpdate',
  scheduledUpdate: { startTime: new Date(at).toISOString(), duration: '1h', flags },
});

test('does not say the same twice', () => {
  const status = { updatedReplicas: 4, availableReplicas: 3 };
  const text = '3 of 4 workers are available';
  assert.equal(seen({ status, unready: `${text}.` }), `moving: ${text}`);
  assert.equal(seen({ status, unready: `${text}. gpu-3: Pending` }), `moving: ${text}. gpu-3: Pending`);
  assert.equal(seen({ status, unready: 'Slurm is away' }), `moving: ${text}: Slurm is away`);
});

test('a rollout goes on until all have the newest revision', () => {
  assert.match(seen({}), /^moving: 2 of 4 workers have the new revision$/);
  assert.match(seen({ status: { updatedReplicas: 4 } }), /^over: all 4 workers have the newest revision$/);
  assert.match(seen({ status: { observedGeneration: 0 } }), /^moving: waiting for the operator/);
});

test('a rollout with a partition is over when the workers above it are replaced', () => {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
  assert.match(
    seen({ strategy }),
    /^over: 2 of 4 .*; the 2 others keep the old one until updateStrategy\.rollingUpdate\.partition is lower than 2$/,
  );
  assert.match(seen({ strategy, status: { updatedReplicas: 1 } }), /^moving: 1 of 4/);
  assert.match(seen({ strategy, status: { availableReplicas: 3 } }), /^moving/);
  for (const spec of [{ scalingMode: 'DaemonSet' }, { autoscale: { max: 4 } }])
    assert.match(seen({ strategy, spec }), /^moving/, 'it has no effect there');
});

test('workers that wait for a person are not waited for', () => {
  const strategy = { type: 'OnDelete' };
  assert.match(seen({ strategy }), /^waiting: 2 of 4 .*when its pod is deleted/);
  assert.match(seen({ strategy, status: { availableReplicas: 3 } }), /^moving/, 'one is being replaced');
  assert.match(seen({ progressing: 'Paused' }), /^waiting: 2 of 4 .*kubectl slurm rollout resume$/);
});

test('workers that wait for a window are not waited for before it, nor after it', () => {
  const hours = (from: number, flags?: readonly string[]) =>
    seen({ strategy: start(now + from * hour, flags), progressing: 'WaitingForWindow' });
  assert.match(hours(1), /^waiting: .*in the maintenance window that begins at 13:00$/);
  assert.match(hours(-0.5), /^moving: 2 of 4/, 'it is open');
  assert.match(hours(-2), /^waiting: .*ended at 11:00: set updateStrategy\.scheduledUpdate\.startTime$/);
  assert.match(hours(-2, ['daily']), /^waiting: .*in the next maintenance window$/);
});
