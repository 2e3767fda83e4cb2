import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, Live } from '../objects/object.ts';
import type { Pod } from '../objects/resources.ts';
import { project } from './projection.ts';

const pod = (name: string): Live<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'n',
    uid: name,
    resourceVersion: '1',
    creationTimestamp: 't',
    labels: { app: 'x' },
    annotations: { long: 'text' },
    managedFields: [{}],
  },
  spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'PodScheduled', status: 'True' },
    ],
  },
});

const keep = ['spec.nodeName', 'status.phase', 'status.conditions.type', 'status.conditions.status'];

test('keeps only the given paths and the identity, also inside lists', () => {
  const { metadata, ...rest } = project<Pod>({ keep })(pod('a'));
  assert.deepEqual(rest, {
    apiVersion: 'v1',
    kind: 'Pod',
    spec: { nodeName: 'node-1' },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'PodScheduled', status: 'True' },
      ],
    },
  });
  assert.equal(metadata.annotations, undefined);
  assert.equal(metadata.managedFields, undefined);
  assert.deepEqual(metadata.labels, { app: 'x' });
});

test('stores equal parts of different objects once', () => {
  const transform = project<Pod>({ keep, share: ['status.conditions', 'spec.nodeName'] });
  const [a, b] = [transform(pod('a')), transform(pod('b'))];
  assert.equal(a.metadata.labels, b.metadata.labels);
  assert.equal(a.status?.conditions, b.status?.conditions);
  assert.notEqual(a.metadata, b.metadata);
});

test('does not confuse a string with the JSON of a shared value', () => {
  interface Odd extends KubeObject {
    a: unknown;
  }
  const transform = project<Odd>({ keep: ['a'], share: ['a'] });
  const { metadata } = pod('x');
  const odd = (a: unknown) => transform({ apiVersion: 'v1', kind: 'Odd', metadata, a }).a;
  assert.deepEqual(odd({ x: 1 }), { x: 1 });
  assert.equal(odd('{"x":1}'), '{"x":1}');
  assert.deepEqual(odd({ x: 1 }), { x: 1 });
});

test('throws if a shared path is not kept', () => {
  assert.throws(() => project<Pod>({ keep, share: ['spec.nodeNam'] }), /"spec.nodeNam" is not in keep/);
});
