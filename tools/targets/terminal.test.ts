import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from './terminal.ts';

test('columns are as wide as their widest cell, numbers to the right', () => {
  const { head, lines } = table(
    ['package', 'files'],
    [
      ['packages/kube', 132],
      ['e2e', 1000000],
    ],
  );
  assert.deepEqual(
    [head, ...lines],
    ['package          files', 'packages/kube      132', 'e2e            1000000'],
  );
});
