import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './until.ts';

test('what is found is the answer, however often the look found nothing or threw before', async () => {
  const looks = [undefined, false, new Error('not yet'), 'it'] as const;
  let count = 0;
  const look = () => {
    const found = looks[count++];
    if (found instanceof Error) throw found;
    return found;
  };
  assert.equal(await until('it', look, { everyMs: 0 }), 'it');
  assert.equal(count, 4);
});

test('nothing and zero are things that can be found', async () => {
  assert.equal(await until('a text', () => ''), '');
  assert.equal(await until('a number', () => Promise.resolve(0)), 0);
});

test('at the deadline it says what was waited for, what there is instead, and what the last look said', async () => {
  const cause = new Error('nobody is there');
  await assert.rejects(
    until('a guest', () => Promise.reject(cause), { seconds: 0, seen: () => 'an empty room' }),
    { message: 'waited 0 s in vain: a guest; seen: an empty room', cause },
  );
});

test('a signal ends it before the deadline', async () => {
  const stop = new AbortController();
  const waiting = until('never', () => false, { everyMs: 3_600_000, signal: stop.signal });
  stop.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
});
