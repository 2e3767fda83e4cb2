import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedReads } from './shared-reads.ts';

function reads() {
  let now = 0;
  const shared = new SharedReads({ now: () => now, schedule: () => () => {} });
  let count = 0;
  const fetch = () => Promise.resolve((count += 1));
  return { shared, fetch, wait: (ms: number) => (now += ms), count: () => count };
}

test('many askers within the time cost one read; a later one costs another', async () => {
  const { shared, fetch, wait } = reads();
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => shared.read('a', 1000, fetch))), [1, 1, 1]);
  wait(999);
  assert.equal(await shared.read('a', 1000, fetch), 1);
  assert.equal(await shared.read('b', 1000, fetch), 2);
  wait(1);
  assert.equal(await shared.read('a', 1000, fetch), 3);
});

test('a failure is told to those who wait and then forgotten; a clock that is set back does not keep an answer', async () => {
  const { shared, fetch, wait } = reads();
  await assert.rejects(
    shared.read('a', 1000, () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await shared.read('a', 1000, fetch), 1);
  wait(-5000);
  assert.equal(await shared.read('a', 1000, fetch), 2);
});
