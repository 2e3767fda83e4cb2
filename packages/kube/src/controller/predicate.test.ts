import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '../cache/replica.ts';
import type { Live, ObjectMeta } from '../objects/object.ts';
import {
  allOf,
  annotationsChanged,
  anyOf,
  generationChanged,
  labelsChanged,
  type Predicate,
} from './predicate.ts';

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

const updates: readonly [what: string, changed: Partial<ObjectMeta>, accepts: readonly Predicate[]][] = [
  ['only the status or a version', { resourceVersion: '2' }, []],
  ['the spec', { generation: 2 }, [generationChanged]],
  ['a new object of the same name', { uid: 'other' }, [generationChanged]],
  ['the deletion timestamp', { deletionTimestamp: '2026-01-01T00:00:00Z' }, [generationChanged]],
  ['the value of a label', { labels: { a: '2' } }, [labelsChanged]],
  ['one label more', { labels: { a: '1', c: '1' } }, [labelsChanged]],
  ['another label of the same value', { labels: { c: '1' } }, [labelsChanged]],
  ['an annotation', { annotations: {} }, [annotationsChanged]],
];
const predicates = { generationChanged, labelsChanged, annotationsChanged };

for (const [what, changed, accepts] of updates)
  test(`a change of ${what} is accepted by the right predicates only`, () => {
    for (const [name, predicate] of Object.entries(predicates))
      assert.equal(predicate(update(changed)), accepts.includes(predicate), name);
    const all = Object.values(predicates);
    assert.equal(anyOf(...all)(update(changed)), accepts.length > 0);
    assert.equal(allOf(...accepts)(update(changed)), true);
    assert.equal(allOf(...all)(update(changed)), false);
  });

test('every predicate accepts creations and deletions', () => {
  for (const predicate of Object.values(predicates))
    for (const type of ['added', 'deleted'] as const)
      assert.equal(predicate({ type, key: 'o', object: object(base) }), true);
});
