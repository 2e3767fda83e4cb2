import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionError } from '@slurm-operator/kube';
import { FakeClock } from '@slurm-operator/kube/testing';
import { awaitProgress, milestonesOf, type Observation } from './await-progress.ts';
import type { Evidence } from './evidence.ts';

const waiting = (milestones: readonly string[] = []): Observation => ({
  isDone: false,
  lines: [{ subject: 'Pod a', namespace: 'n', why: 'crashes', isFault: true }],
  milestones,
});

/** Runs it in fake time: one observation per second, and what it said. */
async function run(observe: (second: number) => Observation) {
  const clock = new FakeClock();
  const said: string[] = [];
  const began = clock.monotonic();
  const state = { isOver: false };
  const ended = awaitProgress({
    observe: () => Promise.resolve().then(() => observe(Math.round((clock.monotonic() - began) / 1000))),
    say: (line) => said.push(line),
    lookFurther: ({ namespace, subject }) => `kubectl -n ${namespace} describe ${subject}`,
    everyMs: 1_000,
    clock,
  })
    .then(() => undefined)
    .catch((error: unknown) => error)
    .finally(() => {
      state.isOver = true;
    });
  while (!state.isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1_000);
  }
  return { error: (await ended) as Error | undefined, said, seconds: (clock.monotonic() - began) / 1000 };
}

test('it ends when the work is done', async () => {
  const { error } = await run((second) => ({ ...waiting(), isDone: second >= 20 }));
  assert.equal(error, undefined);
});

test('after ten minutes without progress it stops with the list and the command to look further', async () => {
  const { error, seconds } = await run(() => waiting(['Pod a has started']));
  assert.equal(error?.name, 'StalledError');
  assert.match(error.message, /nothing has advanced for 10 minutes[\s\S]*Pod a: crashes/);
  assert.match(error.message, /kubectl -n n describe Pod a/);
  assert.ok(seconds >= 600 && seconds < 610, String(seconds));
});

test('every new milestone is progress; one that repeats is none', async () => {
  const { seconds } = await run((second) => waiting([second < 300 ? 'first' : 'second', 'first']));
  assert.ok(seconds >= 900 && seconds < 910, String(seconds));
});

test('an API server that does not answer is told, and waited for', async () => {
  const { error, said } = await run((second) => {
    if (second < 5) throw new ConnectionError('connect ECONNREFUSED', { sent: false });
    return { ...waiting(), isDone: true };
  });
  assert.equal(error, undefined);
  assert.deepEqual(said, ['API server: connect ECONNREFUSED']);
});

test('what is not about the connection ends the wait', async () => {
  const { error } = await run(() => {
    throw new RangeError('a defect');
  });
  assert.equal(error?.message, 'a defect');
});

const pod = (name: string, restarts: number): Evidence =>
  ({
    objects: [],
    claims: [],
    deployments: [],
    events: [],
    pods: [
      {
        metadata: { name, generateName: 'web-' },
        spec: { nodeName: 'n1' },
        status: {
          containerStatuses: [{ name: 'c', ready: false, restartCount: restarts, state: { running: {} } }],
        },
      },
    ],
  }) as never;

test('a container that starts again, in this pod or in the next of its Deployment, is no progress', () => {
  assert.deepEqual(milestonesOf(pod('web-1', 0)), milestonesOf(pod('web-1', 5)));
  assert.deepEqual(milestonesOf(pod('web-1', 0)), milestonesOf(pod('web-2', 0)));
  assert.deepEqual(milestonesOf(pod('web-1', 0)), ['pod web- is scheduled', 'pod web-: c has started']);
});
