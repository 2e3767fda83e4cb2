import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Capacity, type Lane, nextWork, type Work } from './schedule.ts';

const capacity: Capacity = { computing: 1, waiting: 4, preparing: 2 };
const work = (name: string, lane: Lane, seconds: number, more: Partial<Work> = {}): Work => ({
  name,
  lane,
  seconds,
  share: 1,
  after: [],
  ...more,
});

test('the longest work of a lane that has capacity starts first', () => {
  const pending = [work('short', 'waiting', 5), work('long', 'waiting', 50), work('middle', 'waiting', 20)];
  assert.equal(nextWork(pending, [], capacity)?.name, 'long');
});

test('computing and waiting work run side by side, and a full lane does not block the other', () => {
  const pending = [work('sums', 'computing', 100), work('daemons', 'waiting', 10)];
  assert.equal(nextWork(pending, [work('more sums', 'computing', 1)], capacity)?.name, 'daemons');
  const four = ['a', 'b', 'c', 'd'].map((name) => work(name, 'waiting', 1));
  assert.equal(
    nextWork([work('daemons', 'waiting', 10)], [...four, work('sums', 'computing', 1)], capacity),
    undefined,
  );
});

test('work waits for what it starts from, not for names of nothing', () => {
  const fetch = work('fetch', 'preparing', 10);
  const user = work('user', 'waiting', 10, { after: ['fetch', 'unknown'] });
  assert.equal(nextWork([user, fetch], [], capacity)?.name, 'fetch');
  assert.equal(nextWork([user], [fetch], capacity), undefined);
  assert.equal(nextWork([user], [], capacity)?.name, 'user');
});

test('a preparation is as urgent as the longest work that needs it', () => {
  const pending = [
    work('large', 'preparing', 60),
    work('small', 'preparing', 10),
    work('user', 'waiting', 90, { after: ['small'] }),
  ];
  assert.equal(nextWork(pending, [], { ...capacity, preparing: 1 })?.name, 'small');
});

test('what needs much capacity is not overtaken, and runs alone where there is never enough', () => {
  const soak = work('soak', 'waiting', 60, { share: 3 });
  const pending = [soak, work('small', 'waiting', 5)];
  const two = [work('a', 'waiting', 1), work('b', 'waiting', 1), work('sums', 'computing', 1)];
  assert.equal(nextWork(pending, two, capacity), undefined);
  assert.equal(nextWork(pending, [work('a', 'waiting', 1)], capacity)?.name, 'soak');
  assert.equal(nextWork(pending, [], { ...capacity, waiting: 1 })?.name, 'soak');
});

test('unused capacity is lent', () => {
  const sums = [work('a', 'computing', 2), work('b', 'computing', 1)];
  assert.equal(nextWork(sums.slice(1), sums.slice(0, 1), capacity)?.name, 'b');
  assert.equal(nextWork(sums.slice(1), [...sums.slice(0, 1), work('w', 'waiting', 1)], capacity), undefined);
});

test('whatever the work and the capacity: everything runs once, after what it starts from, within its capacity', () => {
  const lane = fc.constantFrom<Lane>('computing', 'waiting', 'preparing');
  const drawn = fc.array(
    fc.record({ lane, seconds: fc.nat(100), share: fc.integer({ min: 1, max: 5 }), after: fc.nat(10) }),
    { maxLength: 30 },
  );
  const capacities = fc.record({
    computing: fc.integer({ min: 1, max: 4 }),
    waiting: fc.integer({ min: 1, max: 8 }),
    preparing: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(drawn, capacities, fc.infiniteStream(fc.nat(100)), (all, given, dice) => {
      // Each depends on one before it, or on nothing.
      let pending = all.map((one, index) =>
        work(`${index}`, one.lane, one.seconds, {
          share: one.share,
          after: one.after < index ? [`${one.after}`] : [],
        }),
      );
      const [running, over]: [Work[], string[]] = [[], []];
      while (pending.length + running.length > 0) {
        const next = nextWork(pending, running, given);
        if (next === undefined) {
          assert.ok(running.length > 0, 'something always runs');
          const [ended] = running.splice(dice.next().value % running.length, 1);
          over.push(ended?.name ?? '');
          continue;
        }
        assert.ok(next.after.every((name) => over.includes(name)));
        const beside = running.filter((other) => other.lane === next.lane);
        const taken = beside.reduce((total, other) => total + other.share, next.share);
        assert.ok(beside.length === 0 || taken <= 2 * given[next.lane]);
        pending = pending.filter((other) => other !== next);
        running.push(next);
      }
      assert.equal(over.length, all.length);
    }),
  );
});
