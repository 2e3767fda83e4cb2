import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Live, Pod } from '@slurm-operator/kube';
import { describeEnded, endedAfter, workerEndedOrRecovered } from './ended-workers.ts';

const changedAt = Date.parse('2026-01-02T03:00:00Z');
const at = (seconds: number) => new Date(changedAt + seconds * 1000).toISOString();

interface Given {
  readonly name?: string;
  readonly created?: number;
  readonly notReadySince?: number;
  readonly ready?: boolean;
  readonly exitCode?: number;
  readonly message?: string;
}

const pod = ({
  name = 'w-0',
  created = -60,
  notReadySince = 1,
  ready = false,
  exitCode = 1,
  message,
}: Given): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, creationTimestamp: at(created) },
  status: {
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: at(notReadySince) }],
    containerStatuses: [
      {
        name: 'slurmd',
        image: 'slurmd:1',
        imageID: '',
        ready,
        restartCount: 3,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: { exitCode, message: message ?? '[2026-01-02T03:00:01] fatal: x\n' } },
      },
    ],
  },
});

const cases: readonly { readonly reason: string; readonly given: Given; readonly counts: boolean }[] = [
  { reason: 'it stopped being ready right after the change', given: {}, counts: true },
  { reason: 'clocks differ by a second', given: { notReadySince: -1 }, counts: true },
  { reason: 'it has crashed for an hour, since the change', given: { notReadySince: 20 }, counts: true },
  { reason: 'it was not ready before the change', given: { notReadySince: -30 }, counts: false },
  { reason: 'it ended long after the change', given: { notReadySince: 3600 }, counts: false },
  { reason: 'it was created after the change', given: { created: 5 }, counts: false },
  { reason: 'it is ready again', given: { ready: true }, counts: false },
  { reason: 'slurmd ended as it was asked to', given: { exitCode: 0 }, counts: false },
];

for (const { reason, given, counts } of cases)
  test(`a worker ${counts ? 'counts' : 'does not count'} as ended by a change: ${reason}`, () =>
    assert.equal(endedAfter(changedAt, [pod(given)]).length, counts ? 1 : 0));

test('the fatal line is quoted, without its time, and the message says what to do', () => {
  const message = '[x] fatal: cgroup_g_initialize: disabled\n[x] something after it\n';
  const ended = endedAfter(changedAt, [pod({ message }), pod({ message })]);
  const problem = describeEnded(ended, { name: 'main', hash: 'a1b2c3d4e5f6a7b8', changedAt });
  assert.equal(problem?.stillReady, true);
  assert.match(
    problem?.message ?? '',
    /w-0 and 1 more after configuration a1b2c3d4e5f6 of Controller main .*"fatal: cgroup_g_initialize: disabled"\. Revert the change/,
  );
});

test('the first worker by its number is named, whatever the order of the cache: the message stays the same', () => {
  const names = ['w-10', 'w-2', 'w-9'];
  for (const order of [names, names.toReversed()]) {
    const ended = endedAfter(
      changedAt,
      order.map((name) => pod({ name, message: `fatal: ${name}` })),
    );
    const problem = describeEnded(ended, { name: 'main', hash: '', changedAt });
    assert.match(problem?.message ?? '', /exited in w-2 and 2 more .*"fatal: w-2"/);
  }
});

test('no message when no worker has ended', () => {
  assert.equal(describeEnded([], { name: 'main', hash: '', changedAt }), undefined);
});

test('a Controller is looked at when a slurmd ends and when it is back, not at every change of a worker', () => {
  const live = (given: Given) => pod(given) as Live<Pod>;
  const ended = live({});
  const ends = structuredClone(ended);
  Object.assign(ends.status?.containerStatuses?.[0]?.lastState?.terminated ?? {}, { finishedAt: at(1) });
  const update = (previous: Live<Pod>, object: Live<Pod>) =>
    workerEndedOrRecovered({ type: 'updated', key: 'hpc/w-0', previous, object });
  assert.equal(update(ended, ends), true);
  assert.equal(update(ends, structuredClone(ends)), false);
  const back = structuredClone(ends);
  Object.assign(back.status?.conditions?.[0] ?? {}, { status: 'True' });
  assert.equal(update(ends, back), true);
});
