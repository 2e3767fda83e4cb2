import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextAttempt, whenBackingOff, whenEnded, whenNotStarted, whenStarted } from './container-changes.ts';
import { type ContainerRecord, newRecord } from './container-record.ts';

const run = (at: number, id = 'c1') => ({ id, startedAt: at, finishedAt: at + 1000, imageId: 'sha256:1' });
const crash = { code: 7, oomKilled: false, message: 'oh' };
const who = 'web_default(uid-1)';

test('a container that crashes again and again waits 0, 10, 20, 40 s and never longer than 5 minutes', () => {
  let record: ContainerRecord = newRecord('web');
  const waits: number[] = [];
  for (let round = 0; round < 8; round++) {
    record = whenStarted(record, run(round * 1_000_000));
    assert.equal(record.restarts, round, 'the first start is no restart');
    record = whenEnded(record, run(round * 1_000_000), crash);
    waits.push(((record.notBefore ?? 0) - (round * 1_000_000 + 1000)) / 1000);
    if ((record.notBefore ?? 0) > round * 1_000_000 + 1000)
      record = whenBackingOff(record, { image: 'x', who });
  }
  assert.deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300]);
});

test('back-off is shown as CrashLoopBackOff with the wait in words, and the end is kept', () => {
  let record = whenEnded(whenStarted(newRecord('web'), run(0)), run(0), crash);
  record = whenEnded(whenStarted(record, run(2000, 'c2')), run(2000, 'c2'), crash);
  const shown = whenBackingOff({ ...record, notBefore: 3000 + 80_000 }, { image: 'x', who });
  assert.deepEqual(shown.state, {
    is: 'waiting',
    reason: 'CrashLoopBackOff',
    message: 'back-off 1m20s restarting failed container=web pod=web_default(uid-1)',
  });
  assert.equal(shown.last?.containerId, 'c2');
  assert.equal(shown.last?.exitCode, 7);
  assert.equal(nextAttempt(shown), 2);
  assert.equal(whenBackingOff(shown, { image: 'x', who }), shown, 'shown once');
});

test('how an end is called', () => {
  const started = whenStarted(newRecord('web'), run(0));
  const reason = (exit: { code: number; oomKilled: boolean }) => {
    const { state } = whenEnded(started, run(0), { ...exit, message: '' });
    return state.is === 'terminated' && state.reason;
  };
  assert.equal(reason({ code: 0, oomKilled: false }), 'Completed');
  assert.equal(reason({ code: 1, oomKilled: false }), 'Error');
  assert.equal(reason({ code: 137, oomKilled: true }), 'OOMKilled');
  const { state } = whenEnded(started, run(0), { ...crash, message: 'x'.repeat(10_000) });
  assert.equal(state.is === 'terminated' && state.message?.length, 4096);
});

test('an image that is missing is told first, then backed off from, ever longer', () => {
  const error = { code: 'ErrImagePull', message: 'not found' } as const;
  const failed = whenNotStarted(newRecord('web'), error, 5000);
  assert.deepEqual(failed.state, { is: 'waiting', reason: 'ErrImagePull', message: 'not found' });
  assert.equal(failed.notBefore, 15_000);
  const shown = whenBackingOff(failed, { image: 'a:1', who });
  assert.deepEqual(shown.state, {
    is: 'waiting',
    reason: 'ImagePullBackOff',
    message: 'Back-off pulling image "a:1": ErrImagePull: not found',
  });
  assert.equal(whenNotStarted(shown, error, 15_000).notBefore, 35_000);
  assert.equal(shown.restarts, 0);
});

test('a container that the runtime refuses ended with StartError; each further try counts as a restart', () => {
  const error = { code: 'RunContainerError', message: 'no such program' } as const;
  const first = whenNotStarted(newRecord('web'), error, 1000);
  assert.equal(first.state.is === 'terminated' && first.state.reason, 'StartError');
  assert.equal(first.restarts, 0);
  assert.equal(first.notBefore, 1000, 'the first time without a wait');
  const second = whenNotStarted(first, error, 2000);
  assert.equal(second.restarts, 1);
  assert.equal(second.notBefore, 12_000);
});
