import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@slurm-operator/api';
import { digestData, everyKind } from './resources.ts';

test('every kind of the API is addressed by its own names', () => {
  const names = (list: readonly { readonly kind: string; readonly plural: string }[]) =>
    list.map(({ kind, plural }) => `${kind} ${plural}`).toSorted();
  assert.deepEqual(names(everyKind), names(kinds));
});

test('of a Secret only digests are kept (upstream weakness 37)', () => {
  const secret = (value: string) =>
    digestData({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'n', uid: 'u', resourceVersion: '1' },
      data: { key: value },
      stringData: { other: 'c2VjcmV0' },
    } as never) as unknown as { data: Record<string, string> };
  const kept = secret('aHVudGVyMg==');
  assert.equal(JSON.stringify(kept).includes('aHVudGVyMg'), false);
  assert.equal(JSON.stringify(kept).includes('c2VjcmV0'), false);
  assert.equal(kept.data['key'], secret('aHVudGVyMg==').data['key'], 'the same value is recognised');
  assert.notEqual(kept.data['key'], secret('aHVudGVyMw==').data['key'], 'and another one is seen');
});
