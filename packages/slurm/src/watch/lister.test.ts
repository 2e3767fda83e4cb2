import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ManualClock } from '../../testing/manual-clock.ts';
import { Timeout, Unauthenticated, Unavailable } from '../errors.ts';
import { type Fetched, Lister } from './lister.ts';
import { pace } from './pace.ts';

interface Content {
  readonly value: number;
}

/** A lister on a clock of its own; the test answers each list. */
function setUp() {
  const clock = new ManualClock(1_000_000);
  const asked: { at: number; last: number | undefined; reply: PromiseWithResolvers<Fetched<Content>> }[] = [];
  let blockedMs = 0;
  const lister = new Lister<Content>({
    name: 'things',
    clock,
    random: () => 0.5,
    pace: pace({ idleBytesPerSecond: 1000 }),
    blockedMs: () => blockedMs,
    onListenerError: (error) => thrown.push(error),
    fetch: (last, signal) => {
      const reply = Promise.withResolvers<Fetched<Content>>();
      signal.addEventListener('abort', () => reply.reject(new Unavailable('stopped')));
      asked.push({ at: clock.now(), last: last?.value, reply });
      return reply.promise;
    },
  });
  const thrown: unknown[] = [];
  return {
    clock,
    asked,
    thrown,
    lister,
    block: (ms: number) => {
      blockedMs = ms;
    },
    /** Answers the list that is under way. */
    async answer(value: number, bytes = 0) {
      const current = asked.at(-1);
      current?.reply.resolve({ content: { value }, beganAt: current.at, bytes });
      await turn();
    },
    async refuse(error: Error) {
      asked.at(-1)?.reply.reject(error);
      await turn();
    },
    async advance(ms: number) {
      clock.advance(ms);
      await turn();
    },
  };
}

test('the view is unknown before the first list; then it has the content and the time at which the list began', async () => {
  const { lister, answer, clock } = setUp();
  assert.ok(lister.view.kind === 'unknown' && lister.view.why.code === 'NotYetListed');
  lister.start();
  clock.advance(700);
  await answer(1);
  assert.deepEqual(lister.view, { kind: 'known', at: 1_000_000, answeredAt: 1_000_700, value: 1 });
  await lister.stop();
});

test('a failed list makes the view unknown since it began, with the reason and the last known content', async () => {
  const { lister, answer, refuse, advance } = setUp();
  lister.start();
  await answer(1);
  await advance(5000);
  await refuse(new Unavailable('slurmctld is gone'));
  const { view } = lister;
  assert.ok(view.kind === 'unknown');
  assert.equal(view.since, 1_005_000);
  assert.deepEqual(view.why, { code: 'Unavailable', message: 'slurmctld is gone' });
  assert.equal(view.last?.value, 1);
  await advance(1000);
  await refuse(new Unauthenticated('expired'));
  assert.ok(
    lister.view.kind === 'unknown' &&
      lister.view.since === 1_005_000 &&
      lister.view.why.code === 'Unauthenticated',
  );
  await advance(2000);
  await answer(2);
  assert.deepEqual(lister.view, { kind: 'known', at: 1_008_000, answeredAt: 1_008_000, value: 2 });
  await lister.stop();
});

test('an internal error makes the view unknown too', async () => {
  const { lister, refuse } = setUp();
  lister.start();
  await refuse(new TypeError('cannot read properties of undefined'));
  assert.ok(lister.view.kind === 'unknown' && lister.view.why.code === 'ProtocolError');
  await lister.stop();
});

test('polls slowly when idle, every second while a caller waits, and at once when one begins to wait', async () => {
  const { lister, answer, advance, asked } = setUp();
  lister.start();
  await answer(1, 30_000);
  await advance(29_999);
  assert.equal(asked.length, 1);
  await advance(1);
  assert.equal(asked.length, 2, 'thirty seconds for thirty thousand bytes');
  await answer(1, 30_000);
  await advance(3000);
  const fast = lister.pollFast();
  await turn();
  await advance(50);
  assert.equal(asked.length, 3, 'pollFast() shortened the interval');
  await answer(1, 30_000);
  await advance(1000);
  assert.equal(asked.length, 4);
  fast[Symbol.dispose]();
  fast[Symbol.dispose]();
  await answer(1, 30_000);
  await advance(1000);
  assert.equal(asked.length, 4, 'slow again');
  await lister.stop();
});

test('runs one list at a time for any number of waiters', async () => {
  const { lister, asked, answer, advance } = setUp();
  lister.start();
  const waits = Array.from({ length: 50 }, () => lister.listSince(0));
  await advance(10_000);
  assert.equal(asked.length, 1);
  await answer(7);
  assert.deepEqual(
    (await Promise.all(waits)).map(({ value }) => value),
    Array.from({ length: 50 }, () => 7),
  );
  await lister.stop();
});

test('listSince: a list that began before the moment does not count, even if its response is late', async () => {
  const { lister, asked, answer, advance, clock } = setUp();
  lister.start();
  clock.advance(300);
  const moment = clock.now();
  let seen: number | undefined;
  const waiting = (async () => {
    seen = (await lister.listSince(moment)).value;
  })();
  await answer(1);
  assert.equal(seen, undefined, 'it began before the moment');
  await advance(50);
  assert.equal(asked.length, 2, 'another one is asked for at once');
  await answer(2);
  await waiting;
  assert.equal(seen, 2);
  assert.equal((await lister.listSince(moment)).value, 2, 'known already: no further list');
  await lister.stop();
});

test('listSince: content from before the moment does not count', async () => {
  const { lister, asked, answer, advance, clock } = setUp();
  lister.start();
  await answer(1);
  await advance(500);
  const waiting = lister.listSince(clock.now());
  await turn();
  await advance(50);
  assert.equal(asked.length, 2, 'a list of its own');
  await answer(2);
  assert.equal((await waiting).value, 2);
  await lister.stop();
});

test('listSince: a list that began in the same millisecond does not count', async () => {
  const { lister, answer, asked, advance, clock } = setUp();
  lister.start();
  const waiting = lister.listSince(clock.now());
  await answer(1);
  await advance(50);
  assert.equal(asked.length, 2);
  await answer(2);
  assert.equal((await waiting).value, 2);
  await lister.stop();
});

test('listSince retries after failures, and reports the last error at its timeout', async () => {
  const { lister, refuse, advance } = setUp();
  lister.start();
  const waiting = lister.listSince(0, { timeoutMs: 3000 });
  const failed = assert.rejects(
    waiting,
    (error) => error instanceof Timeout && /3 s.*slurmctld is gone/.test(error.message),
  );
  await refuse(new Unavailable('slurmctld is gone'));
  await advance(3000);
  await failed;
  await lister.stop();
});

test('listSince can be aborted', async () => {
  const { lister } = setUp();
  lister.start();
  const stop = new AbortController();
  const waiting = lister.listSince(0, { signal: stop.signal });
  stop.abort();
  await assert.rejects(waiting, Unavailable);
  await assert.rejects(lister.listSince(0, { signal: stop.signal }), Unavailable);
  await lister.stop();
});

test('backs off after failures, and waits for an open circuit even while polling fast', async () => {
  const { lister, refuse, advance, asked, block } = setUp();
  lister.start();
  using _fast = lister.pollFast();
  block(4000);
  await refuse(new Unavailable('x'));
  await advance(3999);
  assert.equal(asked.length, 1);
  await advance(1);
  assert.equal(asked.length, 2);
  block(0);
  await refuse(new Unavailable('x'));
  await advance(1999);
  assert.equal(asked.length, 2);
  await advance(1);
  assert.equal(asked.length, 3);
  await lister.stop();
});

test('an error of a listener does not affect others', async () => {
  const { lister, answer, thrown } = setUp();
  const seen: string[] = [];
  lister.subscribe(() => {
    throw new Error('mine');
  });
  const end = lister.subscribe((view) => seen.push(view.kind));
  lister.start();
  await answer(1);
  assert.deepEqual(seen, ['known']);
  assert.equal(thrown.length, 1);
  end();
  await lister.stop();
});

test('after stop no timer is left, and a late response changes nothing', async () => {
  const { lister, asked, clock } = setUp();
  lister.start();
  const stopping = lister.stop();
  asked[0]?.reply.resolve({ content: { value: 9 }, beganAt: clock.now(), bytes: 0 });
  await stopping;
  assert.equal(lister.view.kind, 'unknown');
  assert.equal(clock.pending, 0);
});

test('a clock that is set back neither makes an old list current nor delays the next one for hours', async () => {
  const { lister, answer, asked, clock, advance } = setUp();
  lister.start();
  clock.set(1_000_000 - 3_600_000);
  const fresh = lister.listSince(clock.now());
  await answer(1); // began before
  for (let seconds = 0; asked.length < 2 && seconds < 60; seconds += 1) await advance(1000);
  assert.equal(asked.length, 2, 'it was listed again within a minute');
  await answer(2);
  assert.equal((await fresh).value, 2);
  await lister.stop();
});
