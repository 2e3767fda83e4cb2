import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anything } from '../schema/shape.ts';
import { FieldSet } from './field-set.ts';
import { conflictsBeyondLastApplied, lastAppliedAnnotation, withLastApplied } from './last-applied.ts';

const manager = {
  manager: 'kubectl-client-side-apply',
  operation: 'Update' as const,
  apiVersion: 'v1',
  subresource: '',
  time: undefined,
  fields: new FieldSet(),
};

function live(data: Record<string, string>, applied: Record<string, string>) {
  const annotations = { [lastAppliedAnnotation]: JSON.stringify({ data: applied }) };
  return { metadata: { annotations }, data };
}

test('a field that is still as it was applied client-side may be taken', () => {
  const conflict = { manager, fields: FieldSet.of(['f:data', 'f:a']) };
  assert.deepEqual(conflictsBeyondLastApplied(anything, live({ a: '1' }, { a: '1' }), [conflict]), []);
});

test('a field that was changed since, or that was never applied, stays a conflict', () => {
  const conflict = { manager, fields: FieldSet.of(['f:data', 'f:a'], ['f:data', 'f:b']) };
  const left = conflictsBeyondLastApplied(anything, live({ a: '2', b: '1' }, { a: '1' }), [conflict]);
  assert.deepEqual(
    [...(left[0]?.fields.paths() ?? [])],
    [
      ['f:data', 'f:a'],
      ['f:data', 'f:b'],
    ],
  );
});

test('the annotation follows what is applied, and is not added where there was none', () => {
  const after = withLastApplied(live({ a: '1' }, { a: '1' }), { kind: 'ConfigMap', data: { a: '2' } });
  assert.deepEqual(after.metadata, {
    annotations: { [lastAppliedAnnotation]: '{"data":{"a":"2"},"kind":"ConfigMap"}\n' },
  });
  assert.deepEqual(withLastApplied({ metadata: {} }, { data: {} }), { metadata: {} });
});
