/** Leader election on a lease in memory: never two leaders, with any clocks, pauses and lost requests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '../../testing/fake-clock.ts';
import { type FakeAnswer, fakeTransport, status } from '../../testing/fake-transport.ts';
import { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import { NotLeaderError } from '../errors.ts';
import { LeaderElector } from './elector.ts';

interface StoredLease {
  metadata: { resourceVersion: string; [field: string]: unknown };
  spec: { holderIdentity?: string; [field: string]: unknown };
}

/** An API server with one Lease. */
class LeaseServer {
  lease: StoredLease | undefined;
  version = 1;
  writes: string[] = [];

  answer(method: string, body: unknown): FakeAnswer {
    if (method === 'GET') return this.lease === undefined ? status(404, 'NotFound') : { body: this.lease };
    const sent = body as StoredLease;
    if (method === 'POST' && this.lease !== undefined) return status(409, 'AlreadyExists');
    if (method === 'PUT' && sent.metadata.resourceVersion !== this.lease?.metadata.resourceVersion)
      return status(409, 'Conflict');
    this.version += 1;
    this.lease = {
      ...sent,
      metadata: { ...sent.metadata, uid: 'u', creationTimestamp: '', resourceVersion: String(this.version) },
    };
    this.writes.push(sent.spec.holderIdentity ?? '');
    return { body: this.lease };
  }
}

/** One replica with its own clock, which may be stopped, and a network that may lose responses. */
function replica(
  server: LeaseServer,
  identity: string,
  clock: Clock,
  network: () => 'up' | 'down' | 'lost' = () => 'up',
) {
  const client = new Client(
    fakeTransport(({ method, body }) => {
      const state = network();
      if (state === 'down') throw new Error('unreachable');
      const answer = server.answer(method, body);
      if (state === 'lost') throw new Error('the answer was lost');
      return answer;
    }),
  );
  return new LeaderElector(client, { namespace: 'n', name: 'lease', identity }, { clock });
}

test('the first candidate leads at once; the second waits until the lease expires', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const stop = new AbortController();
  const first = replica(server, 'first', clock);
  await first.acquire(stop.signal);
  first.assertLeading();
  const second = replica(server, 'second', clock);
  let acquired = false;
  const waiting = second.acquire(stop.signal).then(() => (acquired = true));
  await clock.advance(14_000);
  assert.equal(acquired, false);
  assert.throws(() => first.assertLeading(), NotLeaderError, 'the silent leader stopped itself before');
  assert.throws(() => second.assertLeading(), NotLeaderError);
  await clock.advance(5_000);
  await waiting;
  second.assertLeading();
  assert.equal(server.lease?.spec['leaseTransitions'], 1);
  stop.abort();
});

test('a leader that renews keeps the lease; a released lease is acquired at once', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const stop = new AbortController();
  const first = replica(server, 'first', clock);
  await first.acquire(stop.signal);
  const stopFirst = new AbortController();
  const holding = first.hold(stopFirst.signal);
  const second = replica(server, 'second', clock);
  const waiting = second.acquire(stop.signal);
  await clock.advance(120_000);
  first.assertLeading();
  stopFirst.abort();
  await holding;
  await first.release();
  assert.throws(() => first.assertLeading(), NotLeaderError);
  await clock.advance(3_000);
  await waiting;
  second.assertLeading();
  stop.abort();
});

test('a released lease stays released, even if hold() was not aborted', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const stop = new AbortController();
  const elector = replica(server, 'only', clock);
  await elector.acquire(stop.signal);
  const holding = elector.hold(stop.signal);
  await clock.advance(10_000);
  await elector.release();
  assert.throws(() => elector.assertLeading(), NotLeaderError);
  await clock.advance(60_000);
  assert.equal(server.lease?.spec.holderIdentity, '');
  assert.equal(server.writes.at(-1), '', 'and is not taken again');
  assert.equal(elector.lost.aborted, false, 'given back is not lost');
  stop.abort();
  await holding;
});

test('releases the lease during a renewal', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const stop = new AbortController();
  const elector = replica(server, 'only', clock);
  await elector.acquire(stop.signal);
  const holding = elector.hold(stop.signal);
  // Exactly when the next renewal is due.
  let released: Promise<void> | undefined;
  clock.after(2_000, () => {
    released = elector.release();
  });
  await clock.advance(2_000);
  await released;
  await clock.advance(60_000);
  assert.equal(server.lease?.spec.holderIdentity, '');
  stop.abort();
  await holding;
});

test('a leader without a connection to the server stops and reports the loss', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  let state: 'up' | 'down' = 'up';
  const elector = replica(server, 'only', clock, () => state);
  const stop = new AbortController();
  await elector.acquire(stop.signal);
  const holding = elector.hold(stop.signal);
  await clock.advance(30_000);
  state = 'down';
  await clock.advance(9_000);
  assert.equal(elector.lost.aborted, false);
  await clock.advance(4_000);
  await holding;
  assert.equal(elector.lost.aborted, true);
  assert.throws(() => elector.assertLeading(), NotLeaderError);
});

test('a suspended leader does not write after it resumes, before its timers run', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const elector = replica(server, 'frozen', clock);
  const stop = new AbortController();
  await elector.acquire(stop.signal);
  elector.assertLeading();
  clock.freeze(10_001);
  assert.throws(() => elector.assertLeading(), NotLeaderError);
});

test('a leader that was replaced while suspended loses leadership, even if the lease is free when it resumes', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const stop = new AbortController();
  const frozen = replica(server, 'frozen', clock);
  await frozen.acquire(stop.signal);
  clock.freeze(20_000);
  const other = replica(server, 'other', clock);
  const waiting = other.acquire(stop.signal);
  await clock.advance(20_000);
  await waiting;
  await other.release();
  const holding = frozen.hold(stop.signal);
  await clock.advance(3_000);
  await holding;
  assert.equal(frozen.lost.aborted, true);
  assert.equal(server.lease?.spec.holderIdentity, '');
});

test('a leader on a machine that slept (its monotonic clock was stopped) does not write', async () => {
  const server = new LeaseServer();
  const clock = new FakeClock();
  const elector = replica(server, 'asleep', clock);
  const stop = new AbortController();
  await elector.acquire(stop.signal);
  clock.jump(3_600_000);
  assert.throws(() => elector.assertLeading(), NotLeaderError);
  const holding = elector.hold(stop.signal);
  await clock.advance(2_000);
  elector.assertLeading();
  assert.equal(elector.lost.aborted, false, 'the lease was still ours: work goes on');
  clock.jump(-7_200_000);
  elector.assertLeading();
  stop.abort();
  await clock.advance(2_000);
  await holding;
});

test('throws on unsafe durations', () => {
  const client = new Client(fakeTransport(() => ({ body: {} })));
  const options = { namespace: 'n', name: 'l', identity: 'i' };
  assert.throws(
    () => new LeaderElector(client, { ...options, renewDeadline: 15_000 }),
    /renewDeadline \(15000\)/,
  );
  assert.throws(() => new LeaderElector(client, { ...options, retryPeriod: 10_000 }), RangeError);
});

/** A process that can be suspended: then its timers do not run although time passes. */
class PausableClock implements Clock {
  readonly #world: FakeClock;
  #paused = false;
  #waiting: (() => void)[] = [];
  #skew = 0;
  constructor(world: FakeClock) {
    this.#world = world;
  }
  now = () => this.#world.now() + this.#skew;
  monotonic = () => this.#world.monotonic();
  random = () => this.#world.random();
  after(delay: number, callback: () => void): () => void {
    let cancelled = false;
    const cancel = this.#world.after(delay, () => {
      if (this.#paused) this.#waiting.push(() => cancelled || callback());
      else if (!cancelled) callback();
    });
    return () => {
      cancelled = true;
      cancel();
    };
  }
  jump(milliseconds: number): void {
    this.#skew += milliseconds;
  }
  pause(): void {
    this.#paused = true;
  }
  resume(): void {
    this.#paused = false;
    for (const callback of this.#waiting.splice(0)) callback();
  }
}

const event = fc.oneof(
  fc.record({
    op: fc.constant('advance' as const),
    time: fc.constantFrom(100, 1_000, 5_000, 11_000, 20_000),
  }),
  fc.record({ op: fc.constant('pause' as const), who: fc.nat(2) }),
  fc.record({ op: fc.constant('resume' as const), who: fc.nat(2) }),
  fc.record({
    op: fc.constant('network' as const),
    who: fc.nat(2),
    state: fc.constantFrom('up' as const, 'up' as const, 'down' as const, 'lost' as const),
  }),
  fc.record({
    op: fc.constant('jump' as const),
    who: fc.nat(2),
    time: fc.integer({ min: -100_000, max: 100_000 }),
  }),
);

test('never two leaders: any schedule of pauses, lost responses and clock jumps on three replicas', async () => {
  let handovers = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 10, maxLength: 30, size: 'max' }),
      fc.integer(),
      async (events, seed) => {
        const world = new FakeClock({ seed: Math.abs(seed) + 1 });
        const server = new LeaseServer();
        const networks: ('up' | 'down' | 'lost')[] = ['up', 'up', 'up'];
        const clocks = networks.map(() => new PausableClock(world));
        const stop = new AbortController();
        const electors = clocks.map((clock, i) => replica(server, `r${i}`, clock, () => networks[i] ?? 'up'));
        for (const elector of electors)
          void elector.acquire(stop.signal).then(
            () => elector.hold(stop.signal),
            () => undefined,
          );
        const check = () => {
          const leading = electors.filter((elector) => elector.leading);
          assert.ok(
            leading.length <= 1,
            `${leading.map((elector) => elector.identity).join(' and ')} both lead`,
          );
        };
        for (const move of events) {
          if (move.op === 'network') networks[move.who] = move.state;
          else if (move.op === 'pause') clocks[move.who]?.pause();
          else if (move.op === 'resume') clocks[move.who]?.resume();
          else if (move.op === 'jump') clocks[move.who]?.jump(move.time);
          else
            for (let left = move.time; left > 0; left -= 500) {
              await world.advance(Math.min(500, left));
              check();
            }
          check();
        }
        handovers += new Set(server.writes).size - 1;
        stop.abort();
        for (const clock of clocks) clock.resume();
        await world.advance(60_000);
      },
    ),
    { numRuns: 100 },
  );
  assert.ok(handovers > 0, 'the schedules did make the lease change hands');
});
