import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { AbortedError } from '../errors.ts';
import { RateLimiter } from './rate-limit.ts';

test('a burst passes at once, the rest in order at the rate', async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ qps: 10, burst: 3 }, clock);
  const done: number[] = [];
  for (let i = 0; i < 6; i += 1) void limiter.take(new AbortController().signal).then(() => done.push(i));
  await clock.advance(0);
  assert.deepEqual(done, [0, 1, 2]);
  await clock.advance(100);
  assert.deepEqual(done, [0, 1, 2, 3]);
  await clock.advance(200);
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5]);
  await clock.advance(10_000);
  for (let i = 10; i < 13; i += 1) void limiter.take(new AbortController().signal).then(() => done.push(i));
  await clock.advance(0);
  assert.equal(done.length, 9, 'rest fills the bucket, but never above the burst');
});

test('an aborted wait releases its token', async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ qps: 1, burst: 1 }, clock);
  await limiter.take(new AbortController().signal);
  const giveUp = new AbortController();
  const abandoned = limiter.take(giveUp.signal);
  giveUp.abort();
  await assert.rejects(abandoned, AbortedError);
  let done = false;
  void limiter.take(new AbortController().signal).then(() => (done = true));
  await clock.advance(1_000);
  assert.equal(done, true);
});

test('throws on a limit that would block all requests', () => {
  assert.throws(() => new RateLimiter({ qps: 0, burst: 1 }, new FakeClock()), /qps must be above 0/);
});
