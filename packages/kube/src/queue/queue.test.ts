import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '../../testing/fake-clock.ts';
import { Queue } from './queue.ts';

test('a queued key is queued once, and of several delays the smallest applies', async () => {
  const clock = new FakeClock();
  const queue = new Queue({ clock });
  queue.add('a');
  queue.add('a');
  queue.addAfter('b', 500);
  queue.addAfter('b', 100);
  queue.addAfter('b', 900);
  assert.deepEqual([queue.depth, queue.delayed], [1, 1]);
  await clock.advance(99);
  assert.equal(queue.depth, 1);
  await clock.advance(1);
  assert.equal(queue.depth, 2);
  assert.deepEqual([queue.tryGet(), queue.tryGet(), queue.tryGet()], ['a', 'b', undefined]);
});

test('a key that is added while it is processed is processed again afterwards, never by a second worker', () => {
  const queue = new Queue({ clock: new FakeClock() });
  queue.add('a');
  assert.equal(queue.tryGet(), 'a');
  queue.add('a');
  queue.add('a');
  assert.equal(queue.tryGet(), undefined);
  queue.done('a');
  assert.equal(queue.tryGet(), 'a');
  queue.done('a');
  assert.equal(queue.tryGet(), undefined);
  assert.throws(() => queue.done('a'), /not being processed/);
});

test('a delay that is requested during processing starts then, and an add takes precedence', async () => {
  const clock = new FakeClock();
  const queue = new Queue({ clock });
  queue.add('a');
  queue.tryGet();
  queue.addAfter('a', 1_000);
  await clock.advance(400);
  queue.done('a');
  await clock.advance(599);
  assert.equal(queue.depth, 0);
  await clock.advance(1);
  assert.equal(queue.tryGet(), 'a');
  queue.addAfter('a', 1_000);
  queue.add('a');
  queue.done('a');
  assert.equal(queue.tryGet(), 'a');
});

for (const [first, second] of [
  [1_000, 5_000],
  [5_000, 1_000],
] as const)
  test(`of the delays ${first} and ${second}, requested during processing, the smaller applies`, async () => {
    const clock = new FakeClock();
    const queue = new Queue({ clock });
    queue.add('a');
    queue.tryGet();
    queue.addAfter('a', first);
    queue.addAfter('a', second);
    queue.done('a');
    await clock.advance(999);
    assert.equal(queue.depth, 0);
    await clock.advance(1);
    assert.equal(queue.tryGet(), 'a');
  });

test('each failing key has its own back-off, up to the limit; forget resets it', async () => {
  const clock = new FakeClock();
  const queue = new Queue({ clock, backoff: { initial: 5, limit: 1_000, jitter: 0 } });
  const delays = Array.from({ length: 10 }, () => queue.addRateLimited('bad'));
  assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
  assert.equal(delays.at(-1), 1_000);
  assert.equal(queue.addRateLimited('good'), 5);
  queue.forget('bad');
  assert.equal(queue.addRateLimited('bad'), 5);
});

test('ten thousand delayed keys share one timer', async () => {
  const clock = new FakeClock();
  const queue = new Queue({ clock });
  for (let i = 0; i < 10_000; i += 1) queue.addAfter(`k${i}`, 1 + ((i * 7919) % 10_000));
  assert.equal(clock.timers, 1);
  await clock.advance(10_000);
  assert.equal(queue.depth, 10_000);
  assert.equal(clock.timers, 0);
});

test('a failing key does not starve the others: keys are processed in the order in which they became ready', () => {
  const queue = new Queue({ clock: new FakeClock() });
  for (const key of ['hot', 'b', 'c']) queue.add(key);
  const order: string[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const key = queue.tryGet() ?? '';
    order.push(key);
    queue.add('hot');
    queue.done(key);
  }
  assert.deepEqual(order, ['hot', 'b', 'c', 'hot', 'hot', 'hot']);
});

test('an add and a close wake a waiting worker', async () => {
  const queue = new Queue({ clock: new FakeClock() });
  const first = queue.get();
  const second = queue.get();
  queue.add('a');
  assert.equal(await first, 'a');
  queue.addAfter('later', 1_000);
  queue.close();
  assert.equal(await second, undefined);
  assert.equal(queue.delayed, 0);
  queue.add('b');
  assert.equal(await queue.get(), undefined);
});

test('a closed queue still returns ready keys', async () => {
  const queue = new Queue({ clock: new FakeClock() });
  queue.add('a');
  queue.close();
  assert.equal(await queue.get(), 'a');
  assert.equal(await queue.get(), undefined);
});

/** A simple model of the queue: per key the time at which it is due, and whether it is being processed. */
class Model {
  readonly due = new Map<string, number>();
  readonly working = new Map<string, number>();
  add(key: string, at: number): void {
    const map = this.working.has(key) ? this.working : this.due;
    map.set(key, Math.min(map.get(key) ?? Number.POSITIVE_INFINITY, at));
  }
}

const step = fc.oneof(
  fc.record({ op: fc.constant('add' as const), key: fc.nat(5), delay: fc.constantFrom(0, 0, 10, 50, 200) }),
  fc.record({ op: fc.constant('get' as const) }),
  fc.record({ op: fc.constant('done' as const), which: fc.nat(5) }),
  fc.record({ op: fc.constant('wait' as const), time: fc.constantFrom(1, 10, 100) }),
);

test('behaves like the model on random histories', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new FakeClock();
      const queue = new Queue({ clock });
      const model = new Model();
      for (const move of steps) {
        const now = clock.monotonic();
        if (move.op === 'add') {
          queue.addAfter(`k${move.key}`, move.delay);
          model.add(`k${move.key}`, now + move.delay);
        } else if (move.op === 'wait') await clock.advance(move.time);
        else if (move.op === 'done') {
          const key = [...model.working.keys()][move.which % Math.max(1, model.working.size)];
          if (key === undefined) continue;
          queue.done(key);
          const again = model.working.get(key) ?? Number.POSITIVE_INFINITY;
          model.working.delete(key);
          if (again < Number.POSITIVE_INFINITY) model.due.set(key, Math.max(again, now));
        } else {
          const ready = [...model.due].filter(([, due]) => due <= now);
          const key = queue.tryGet();
          assert.equal(key === undefined, ready.length === 0);
          if (key === undefined) continue;
          const earliest = Math.min(...ready.map(([, due]) => due));
          // The key that became ready first comes first; keys of the same time come in any order.
          assert.equal(model.due.get(key), earliest);
          model.due.delete(key);
          model.working.set(key, Number.POSITIVE_INFINITY);
        }
        assert.equal(queue.working, model.working.size);
        assert.equal(queue.depth + queue.delayed, model.due.size);
        assert.ok(clock.timers <= 1);
      }
    }),
    { numRuns: 500 },
  );
});
