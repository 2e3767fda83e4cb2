import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '../cache/replica.ts';
import type { Live, ObjectMeta } from '../objects/object.ts';
import { allOf, generationChanged } from './predicate.ts';

const object = (metadata: Partial<ObjectMeta>): Live => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'o', uid: 'u', resourceVersion: '1', creationTimestamp: '', ...metadata },
});
const base: Partial<ObjectMeta> = { generation: 1, labels: { a: '1' }, annotations: { b: '1' } };
const update = (changed: Partial<ObjectMeta>): Change => ({
  type: 'updated',
  key: 'o',
  previous: object(base),
  object: object({ ...base, ...changed }),
});

const updates: readonly [what: string, changed: Partial<ObjectMeta>, accepted: boolean][] = [
  ['only the status or a version', { resourceVersion: '2' }, false],
  ['the spec', { generation: 2 }, true],
  ['a new object of the same name', { uid: 'other' }, true],
  ['the deletion timestamp', { deletionTimestamp: '2026-01-01T00:00:00Z' }, true],
  ['a label', { labels: { a: '2' } }, false],
  ['an annotation', { annotations: {} }, false],
];

for (const [what, changed, accepted] of updates)
  test(`generationChanged ${accepted ? 'accepts' : 'filters out'} a change of ${what}`, () =>
    assert.equal(generationChanged(update(changed)), accepted));

test('generationChanged accepts creations and deletions', () => {
  for (const type of ['added', 'deleted'] as const)
    assert.equal(generationChanged({ type, key: 'o', object: object(base) }), true);
});

test('allOf accepts what every predicate accepts', () => {
  const change = update({ generation: 2 });
  assert.equal(allOf()(change), true);
  assert.equal(allOf(generationChanged, () => true)(change), true);
  assert.equal(allOf(generationChanged, () => false)(change), false);
});
