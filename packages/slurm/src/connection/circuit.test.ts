import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../testing/manual-clock.ts';
import { Aborted, Refused, Timeout, Unavailable } from '../errors.ts';
import { Circuit } from './circuit.ts';

const down = () => Promise.reject(new Unavailable('connection refused'));
const up = () => Promise.resolve('hello');

function circuit(clock = new ManualClock(0)) {
  return {
    clock,
    circuit: new Circuit({ name: 'Slurm', threshold: 3, pauseMs: 1000, clock, random: () => 0.5 }),
  };
}

async function fail(subject: Circuit, times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await assert.rejects(subject.run(down), Unavailable);
}

test('after a few failures calls fail at once with the last error', async () => {
  const { circuit: subject } = circuit();
  await fail(subject, 2);
  assert.equal(subject.state, 'closed');
  await fail(subject, 1);
  assert.equal(subject.state, 'open');
  assert.equal(subject.waitMs, 1000);
  let called = false;
  const error: unknown = await subject
    .run(() => {
      called = true;
      return up();
    })
    .catch((caught: unknown) => caught);
  assert.ok(error instanceof Unavailable && error.message.includes('connection refused'));
  assert.equal(called, false);
});

test('after the pause one call at a time is allowed; its success closes the circuit', async () => {
  const { circuit: subject, clock } = circuit();
  await fail(subject, 3);
  clock.advance(1000);
  const trial = Promise.withResolvers<string>();
  const first = subject.run(() => trial.promise);
  assert.equal(subject.state, 'trying');
  await assert.rejects(subject.run(up), Unavailable, 'a second call must not join');
  trial.resolve('back');
  assert.equal(await first, 'back');
  assert.equal(subject.state, 'closed');
  assert.equal(await subject.run(up), 'hello');
});

test('pauses double up to a limit, with jitter', async () => {
  const { circuit: subject, clock } = circuit();
  await fail(subject, 3);
  const pauses: number[] = [];
  for (let turn = 0; turn < 7; turn += 1) {
    pauses.push(subject.waitMs);
    clock.advance(subject.waitMs);
    await fail(subject, 1);
  }
  assert.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  const early = new Circuit({ name: 'x', threshold: 1, pauseMs: 1000, clock, random: () => 0 });
  await assert.rejects(early.run(down));
  assert.equal(early.waitMs, 750);
});

test('an error response counts as a success', async () => {
  const { circuit: subject } = circuit();
  await fail(subject, 2);
  await assert.rejects(
    subject.run(() => Promise.reject(new Refused('no'))),
    Refused,
  );
  await fail(subject, 2);
  assert.equal(subject.state, 'closed');
  await assert.rejects(
    subject.run(() => Promise.reject(new Timeout('late'))),
    Timeout,
  );
  assert.equal(subject.state, 'open');
});

test('a call that its caller aborted is neither a failure nor a success', async () => {
  const { circuit: subject, clock } = circuit();
  const giveUp = (cause: unknown) =>
    assert.rejects(
      subject.run(() => Promise.reject(new Aborted('aborted', { cause }))),
      Aborted,
    );
  for (let turn = 0; turn < 5; turn += 1) await giveUp(new Error('the program ends'));
  assert.equal(subject.state, 'closed');
  await fail(subject, 3);
  clock.advance(1000);
  await giveUp(new DOMException('stop', 'AbortError'));
  assert.equal(subject.state, 'open', 'an aborted call does not end the outage');
  assert.equal(subject.waitMs, 0, 'and the next call may try');
});

test('the timeout of a caller counts as an outage', async () => {
  const { circuit: subject } = circuit();
  const cause = new DOMException('late', 'TimeoutError');
  for (let turn = 0; turn < 3; turn += 1)
    await assert.rejects(subject.run(() => Promise.reject(new Aborted('aborted', { cause }))));
  assert.equal(subject.state, 'open');
});

test('an error without a number is neither an outage nor a success', async () => {
  const { circuit: subject, clock } = circuit();
  const unexplained = () => Promise.reject(new Unavailable('Unable to query job', { number: -1 }));
  for (let turn = 0; turn < 10; turn += 1) await assert.rejects(subject.run(unexplained), Unavailable);
  assert.equal(subject.state, 'closed');
  await fail(subject, 2);
  await assert.rejects(subject.run(unexplained), Unavailable);
  await fail(subject, 1);
  assert.equal(subject.state, 'open', 'failures before it still count');
  clock.advance(1000);
  await assert.rejects(subject.run(unexplained), Unavailable);
  assert.equal(subject.state, 'open', 'it does not end an outage');
  assert.ok(subject.waitMs > 0);
});
