import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kinds } from '@slurm-operator/api';
import { everyKind } from './resources.ts';

test('every kind of the API is addressed by its own names', () => {
  const names = (list: readonly { readonly kind: string; readonly plural: string }[]) =>
    list.map(({ kind, plural }) => `${kind} ${plural}`).toSorted();
  assert.deepEqual(names(everyKind), names(kinds));
});
