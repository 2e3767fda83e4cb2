import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { TerminalError } from '../errors.ts';
import { Controller, type ControllerOptions, type Reconciler } from './controller.ts';
import { ChannelSource } from './source.ts';

function start(reconciler: Reconciler, options: ControllerOptions = {}) {
  const clock = new FakeClock();
  const source = new ChannelSource();
  const outcomes: string[] = [];
  const overdue: number[] = [];
  const observer = {
    workers: () => undefined,
    active: () => undefined,
    overdue: (count: number) => void overdue.push(count),
    reconciled: (outcome: string) => void outcomes.push(outcome),
  };
  const controller = new Controller(
    'test',
    reconciler,
    [source],
    { backoff: { initial: 10, limit: 1_000, jitter: 0 }, ...options },
    { clock, observer },
  );
  const stop = new AbortController();
  const kill = new AbortController();
  const running = controller.run(stop.signal, kill.signal);
  return { clock, source, outcomes, overdue, controller, stop, kill, running };
}

test('an error of one key affects only that key', async () => {
  const calls: string[] = [];
  const it = start(
    ({ name }) => {
      calls.push(name);
      return name === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve();
    },
    { workers: 1 },
  );
  for (const name of ['bad', 'a', 'b']) it.source.trigger({ name });
  await it.clock.advance(35);
  assert.deepEqual(calls, ['bad', 'a', 'b', 'bad', 'bad']);
  it.stop.abort();
  await it.running;
});

test('a synchronous throw counts as a failure', async () => {
  let calls = 0;
  const it = start(() => {
    calls += 1;
    throw new Error('not even a promise');
  });
  it.source.trigger({ name: 'a' });
  await it.clock.advance(15);
  assert.equal(calls, 2);
  it.stop.abort();
  await it.running;
});

test('reconciles again after requeueAfter; zero or less is an error', async () => {
  const times: number[] = [];
  let after = 500;
  const it = start((_request, { clock }) => {
    times.push(clock.monotonic());
    return Promise.resolve({ requeueAfter: after });
  });
  it.source.trigger({ name: 'a' });
  await it.clock.advance(1_000);
  assert.equal(times.length, 3);
  after = 0;
  await it.clock.advance(500);
  assert.equal(it.outcomes.at(-1), 'error');
  await it.clock.advance(10);
  assert.equal(times.length, 5, 'called again after its back-off');
  it.stop.abort();
  await it.running;
});

test('does not retry after a TerminalError until the object changes', async () => {
  let calls = 0;
  const it = start(() => {
    calls += 1;
    return Promise.reject(new TerminalError('the spec makes no sense'));
  });
  it.source.trigger({ name: 'a' });
  await it.clock.advance(100_000);
  assert.equal(calls, 1);
  assert.deepEqual(it.outcomes, ['terminal']);
  it.source.trigger({ name: 'a' });
  await it.clock.advance(0);
  assert.equal(calls, 2);
  it.stop.abort();
  await it.running;
});

test('a success resets the back-off', async () => {
  let failing = true;
  const times: number[] = [];
  const it = start((_request, { clock }) => {
    times.push(clock.monotonic());
    return failing ? Promise.reject(new Error('no')) : Promise.resolve();
  });
  it.source.trigger({ name: 'a' });
  await it.clock.advance(70);
  failing = false;
  await it.clock.advance(100);
  failing = true;
  const before = times.length;
  it.source.trigger({ name: 'a' });
  await it.clock.advance(10);
  assert.equal(times.length, before + 2, 'the first retry comes after the first delay again');
  it.stop.abort();
  await it.running;
});

test('aborts a reconcile at its deadline; if it continues, other keys proceed and its own key waits for it', async () => {
  const signals: AbortSignal[] = [];
  const calls: string[] = [];
  const ends: (() => void)[] = [];
  let under = 0;
  let most = 0;
  const it = start(
    async ({ name }, { signal }) => {
      calls.push(name);
      if (name !== 'stuck' || ends.length === 2) return;
      signals.push(signal);
      most = Math.max(most, (under += 1));
      await new Promise<void>((resolve) => void ends.push(resolve));
      under -= 1;
    },
    { deadline: 1_000, workers: 1 },
  );
  it.source.trigger({ name: 'stuck' });
  await it.clock.advance(1_000);
  assert.equal(signals[0]?.aborted, true);
  assert.equal(it.outcomes.length, 0);
  it.source.trigger({ name: 'other' });
  await it.clock.advance(5_000);
  assert.deepEqual(it.outcomes, ['error', 'success'], 'its worker serves others');
  assert.deepEqual(it.overdue, [1]);
  it.source.trigger({ name: 'stuck' });
  await it.clock.advance(60_000);
  assert.deepEqual(calls, ['stuck', 'other'], 'no key runs twice');
  assert.equal(it.controller.longestOverdue, 60_000);

  ends[0]?.();
  await it.clock.advance(10);
  assert.deepEqual(it.overdue, [1, 0]);
  assert.equal(it.controller.longestOverdue, 0);
  assert.deepEqual(calls, ['stuck', 'other', 'stuck'], 'what came meanwhile was not forgotten');
  ends[1]?.();
  await it.clock.advance(0);
  assert.equal(most, 1);
  assert.equal(it.outcomes.at(-1), 'success');
  it.stop.abort();
  await it.running;
});

test('a reconcile that never ends does not prevent the shutdown', async () => {
  const it = start(() => new Promise(() => undefined), { deadline: 1_000, workers: 1 });
  it.source.trigger({ name: 'stuck' });
  await it.clock.advance(10_000);
  it.stop.abort();
  it.kill.abort();
  await it.clock.advance(5_000);
  await it.running;
  assert.deepEqual(it.outcomes, ['error']);
});

test('a stop finishes queued and running reconciles', async () => {
  const done: string[] = [];
  const it = start(
    async ({ name }, { clock }) => {
      await new Promise<void>((resolve) => void clock.after(100, resolve));
      done.push(name);
    },
    { workers: 1 },
  );
  it.source.trigger({ name: 'a' });
  it.source.trigger({ name: 'b' });
  await it.clock.advance(10);
  it.stop.abort();
  it.source.trigger({ name: 'late' });
  await it.clock.advance(500);
  await it.running;
  assert.deepEqual(done, ['a', 'b']);
});
