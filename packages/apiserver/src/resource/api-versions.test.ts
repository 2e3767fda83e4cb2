import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byVersion } from './api-versions.ts';

test('versions: released before beta before alpha, newer first, names that are no versions last', () => {
  const mixed = ['v1alpha1', 'foo1', 'v2', 'v1beta1', 'v1', 'v10', 'v2beta1', 'bar'];
  assert.deepEqual(mixed.toSorted(byVersion), [
    'v10',
    'v2',
    'v1',
    'v2beta1',
    'v1beta1',
    'v1alpha1',
    'bar',
    'foo1',
  ]);
});
