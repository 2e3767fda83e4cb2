import assert from 'node:assert/strict';
import { test } from 'node:test';
import { label } from '@slurm-operator/api';
import { activeLabels } from './slurmctld-pods.ts';

const pod = (name: string, ready: boolean, value?: string) => ({
  name,
  ready,
  labels: (value === undefined ? {} : { [label.activeController]: value }) as Record<string, string>,
});

test('the ready slurmctld gets the label, once', () => {
  assert.deepEqual(activeLabels([pod('a', true)]), [{ pod: 'a', value: 'true' }]);
  assert.deepEqual(activeLabels([pod('a', true, 'true')]), []);
  assert.deepEqual(activeLabels([pod('a', true, 'false')]), [{ pod: 'a', value: 'true' }]);
});

test('after a failover the label moves', () => {
  assert.deepEqual(activeLabels([pod('a', false, 'true'), pod('b', true)]), [
    { pod: 'a', value: null },
    { pod: 'b', value: 'true' },
  ]);
});

test('while no slurmctld is ready, or two are for a moment, the labels stay', () => {
  assert.deepEqual(activeLabels([pod('a', false, 'true'), pod('b', false)]), []);
  assert.deepEqual(activeLabels([pod('a', true, 'true'), pod('b', true)]), []);
  assert.deepEqual(activeLabels([]), []);
});
