import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRevisions } from './revisions.ts';

const known = (...hashes: string[]) =>
  hashes.map((hash, index) => ({ name: `w-${hash}`, hash, revision: index + 1 }));

test('upstream item 11: revisions are made once, numbered, raised on rollback, and cut to the limit', () => {
  assert.deepEqual(planRevisions([], 'a', new Set(), 0, 'w'), {
    create: { name: 'w-a', revision: 1 },
    raise: undefined,
    remove: [],
  });
  assert.deepEqual(planRevisions(known('a'), 'a', new Set(['a']), 0, 'w'), {
    create: undefined,
    raise: undefined,
    remove: [],
  });
  assert.deepEqual(
    planRevisions(known('a', 'b'), 'a', new Set(['b']), 0, 'w').raise,
    { name: 'w-a', revision: 3 },
    'a rollback',
  );
  assert.deepEqual(
    planRevisions(known('a', 'b', 'c'), 'c', new Set(['c', 'a']), 0, 'w').remove,
    ['w-b'],
    'in use is kept',
  );
  assert.deepEqual(
    planRevisions(known('a', 'b', 'c', 'd'), 'd', new Set(), 2, 'w').remove,
    ['w-a'],
    'the newest of the old are kept',
  );
});
