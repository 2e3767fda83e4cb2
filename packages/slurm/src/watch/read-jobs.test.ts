import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestUnread } from './read-jobs.ts';

test('jobs that cannot be read do not keep others from being read', () => {
  const missing = Array.from({ length: 200 }, (_, index) => String(index));
  const requestedAt = new Map<string, number>();
  const requested = new Set<string>();
  for (let round = 0; round < 4; round += 1)
    for (const id of longestUnread(missing, requestedAt).slice(0, 64)) {
      requestedAt.set(id, round);
      requested.add(id);
    }
  assert.equal(requested.size, missing.length);
});
