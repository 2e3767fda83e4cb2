/** Workers below the partition are recreated with their revision, like those of a StatefulSet. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import { keptRevision } from './kept-revision.ts';
import type { Observed, Worker } from './observed.ts';
import { planWorkers } from './plan-workers.ts';

const below = (partition: number, over: Partial<Observed['update']> = {}) => ({
  ...observed([], []).update,
  partition,
  ...over,
});

describe('the revision that is kept', () => {
  const old = { revision: 'r0' };
  const cases: readonly [reason: string, workers: Worker[], over: Partial<Observed>, kept: string][] = [
    [
      'the one that was noted, while a rollout is under way',
      [worker(0, old), worker(1)],
      { currentRevision: 'r0' },
      'r0',
    ],
    ['the newest, once every worker has it', [worker(0), worker(1)], { currentRevision: 'r0' }, 'r1'],
    [
      'the noted one, while the last of the newest is not ready',
      [worker(0), worker(1, { ready: false })],
      { currentRevision: 'r0' },
      'r0',
    ],
    ['the noted one, while a worker is missing', [worker(1)], { currentRevision: 'r0', replicas: 2 }, 'r0'],
    [
      'the noted one, while a worker of the newest goes',
      [worker(0), worker(1, { terminating: true })],
      { currentRevision: 'r0', replicas: 2 },
      'r0',
    ],
    [
      'where none was noted, that of a worker below the partition',
      [worker(0, old), worker(1)],
      { update: below(1) },
      'r0',
    ],
    ['where none was noted and none is below, the newest', [worker(0, old), worker(1)], {}, 'r1'],
    [
      'the newest in DaemonSet mode, which has no ordinals',
      [worker(0, old)],
      { scalingMode: 'DaemonSet', currentRevision: 'r0' },
      'r1',
    ],
  ];
  for (const [reason, workers, over, kept] of cases)
    test(reason, () =>
      assert.equal(keptRevision(observed(workers, [], { currentRevision: '', ...over })), kept),
    );
});

test('a worker below the partition is made of the kept revision, one above of the newest', () => {
  const made = (over: Partial<Observed>) =>
    planWorkers(observed([], [], { replicas: 2, currentRevision: 'r0', ...over }), now).actions.flatMap(
      (action) => (action.kind === 'create-worker' ? [action.revision] : []),
    );
  assert.deepEqual(made({ update: below(1) }), ['r0', undefined]);
  assert.deepEqual(made({ update: below(0) }), [undefined, undefined]);
  assert.deepEqual(made({ update: below(2, { type: 'OnDelete' }) }), [undefined, undefined]);
  assert.deepEqual(made({ update: below(2), currentRevision: 'r1' }), [undefined, undefined]);
});

test('a worker that was recreated below the partition is kept', () => {
  const workers = [worker(0, { revision: 'r0' }), worker(1)];
  const given = observed(workers, [slurmNode(0), slurmNode(1)], { currentRevision: 'r0', update: below(1) });
  assert.deepEqual(planWorkers(given, now).toRemove, []);
});
