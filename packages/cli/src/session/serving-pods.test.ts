import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Live, Pod } from '@slurm-operator/kube';
import { servingFirst } from './serving-pods.ts';

const pod = (name: string, is: { readonly ready?: boolean; readonly leaving?: boolean } = {}): Live<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'hpc',
    uid: name,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...(is.leaving === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  status: { conditions: [{ type: 'Ready', status: is.ready === false ? 'False' : 'True' }] },
});
const names = (...given: Parameters<typeof servingFirst>) =>
  servingFirst(...given).map(({ metadata }) => metadata.name);

test('a pod that is ready and stays comes before one that starts, and that before one that ends', () => {
  const found = [pod('a', { leaving: true }), pod('b', { ready: false }), pod('c10'), pod('c2')];
  assert.deepEqual(names(found), ['c2', 'c10', 'b', 'a']);
});

test('the active slurmctld comes first, unless it ends or is not ready', () => {
  const isFirst = ({ metadata }: Live<Pod>) => metadata.name === 'b';
  assert.deepEqual(names([pod('a'), pod('b')], isFirst), ['b', 'a']);
  assert.deepEqual(names([pod('a'), pod('b', { leaving: true })], isFirst), ['a', 'b']);
  assert.deepEqual(names([pod('a'), pod('b', { ready: false })], isFirst), ['a', 'b']);
});
