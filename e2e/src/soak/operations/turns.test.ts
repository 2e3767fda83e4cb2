import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Part, Turns } from './turns.ts';

/** An operation that runs until it is told to end. */
function operation(turns: Turns, parts: readonly Part[]) {
  const end = Promise.withResolvers<void>();
  const state = { running: false };
  const ended = turns.take(parts, async () => {
    state.running = true;
    await end.promise;
    state.running = false;
  });
  return { state, end: () => (end.resolve(), ended) };
}

test('operations that need nothing in common run at the same time, those that share a part one after the other', async () => {
  const turns = new Turns();
  const [one, same, other, plain] = [['operator'], ['operator'], ['keys'], []].map((parts) =>
    operation(turns, parts as Part[]),
  );
  await setImmediate();
  assert.deepEqual(
    [one, same, other, plain].map((each) => each?.state.running),
    [true, false, true, true],
  );
  await one?.end();
  await setImmediate();
  assert.equal(same?.state.running, true);
});

test('what needs everything runs alone, and what came after it waits', async () => {
  const turns = new Turns();
  const before = operation(turns, []);
  const alone = operation(turns, ['everything']);
  const after = operation(turns, []);
  await setImmediate();
  assert.deepEqual(
    [before, alone, after].map(({ state }) => state.running),
    [true, false, false],
  );
  await before.end();
  await setImmediate();
  assert.deepEqual(
    [alone, after].map(({ state }) => state.running),
    [true, false],
  );
  await alone.end();
  await setImmediate();
  assert.equal(after.state.running, true);
});

test('an operation that runs gets the turn of a NodeSet although another waits for everything', async () => {
  const turns = new Turns();
  const goOn = Promise.withResolvers<void>();
  let reached = false;
  const outer = turns.take([], async () => {
    await goOn.promise;
    await turns.within('a', async () => void (reached = true));
  });
  const alone = operation(turns, ['everything']);
  await setImmediate();
  goOn.resolve();
  await outer;
  assert.equal(reached, true);
  await alone.end();
});

test('the turn of an operation that fails ends too', async () => {
  const turns = new Turns();
  await assert.rejects(
    turns.take(['keys'], () => Promise.reject(new Error('failed'))),
    /failed/,
  );
  const next = operation(turns, ['keys']);
  await setImmediate();
  assert.equal(next.state.running, true);
});
