import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PollLoad } from './poll-load.ts';

test('a few connections poll five times a second, many share the time, and none is slower than once a second', () => {
  const load = new PollLoad();
  const connections = Array.from({ length: 200 }, () => ({}));
  const at = (count: number) => {
    for (const [index, connection] of connections.entries()) load.set(connection, index < count);
    return load.fastMs;
  };
  assert.deepEqual([0, 1, 8, 20, 50, 200].map(at), [200, 200, 200, 500, 1000, 1000]);
});
