import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileSizes } from './file-sizes.ts';

test('summarizes lines per file by package, and all of them last', () => {
  const lines = new Map([
    ['packages/kube/src/a.ts', 10],
    ['packages/kube/src/b.ts', 50],
    ['packages/kube/src/c.ts', 90],
    ['e2e/d.ts', 30],
  ]);
  assert.deepEqual(fileSizes(lines), [
    ['e2e', { files: 1, median: 30, p90: 30, max: 30, percentBelow30: 0 }],
    ['packages/kube', { files: 3, median: 50, p90: 50, max: 90, percentBelow30: 33.3 }],
    ['all', { files: 4, median: 30, p90: 50, max: 90, percentBelow30: 25 }],
  ]);
});
