import assert from 'node:assert/strict';
import { test } from 'node:test';
import { added, type Content } from './cluster-contents.ts';

const content = (path: string): readonly [string, Content] => [
  path,
  { path, kind: 'Secret', namespace: 'n', name: path },
];

test('what came is told, what stayed is not, and the other way round what is gone', () => {
  const before = new Map([content('/a'), content('/b')]);
  const now = new Map([content('/b'), content('/c')]);
  assert.deepEqual(
    added(before, now).map(({ path }) => path),
    ['/c'],
  );
  assert.deepEqual(
    added(now, before).map(({ path }) => path),
    ['/a'],
  );
});
