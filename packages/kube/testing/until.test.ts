import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './until.ts';

test('returns the first value, after any number of polls without one or with an error', async () => {
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

test('an empty string and zero are values', async () => {
  assert.equal(await until('a text', () => ''), '');
  assert.equal(await until('a number', () => Promise.resolve(0)), 0);
});

test('the error of a timeout has the condition, the current state and the last error', async () => {
  const cause = new Error('not found');
  await assert.rejects(
    until('a pod', () => Promise.reject(cause), { seconds: 0, seen: () => 'no pods' }),
    { message: 'timed out after 0 s: a pod; seen: no pods', cause },
  );
});

test('a signal aborts it before the deadline', async () => {
  const stop = new AbortController();
  const waiting = until('never', () => false, { everyMs: 3_600_000, signal: stop.signal });
  stop.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
});
