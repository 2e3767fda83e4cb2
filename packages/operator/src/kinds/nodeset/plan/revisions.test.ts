import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import { autoscaled, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import { describeActions } from '../../../framework/actions.ts';
import type { Observed, Worker } from '../model/observed.ts';
import { planWorkers } from './plan-workers.ts';
import {
  keptRevision,
  type ObservedRevisions,
  planRevisions,
  type RecordedRevision,
  revisionChanges,
} from './revisions.ts';

const known = (...hashes: string[]): RecordedRevision[] =>
  hashes.map((hash, at) => ({ name: `w-${hash}`, uid: `uid-${hash}`, hash, revision: at + 1 }));
const removed = (...args: Parameters<typeof revisionChanges>) =>
  revisionChanges(...args).remove.map(({ name }) => name);

test('upstream item 11: revisions are created once, numbered, raised on rollback, and cut to the limit', () => {
  assert.deepEqual(revisionChanges([], 'a', new Set(), 0, 'w'), {
    create: { name: 'w-a', revision: 1 },
    raise: undefined,
    remove: [],
  });
  assert.deepEqual(revisionChanges(known('a'), 'a', new Set(['a']), 0, 'w'), {
    create: undefined,
    raise: undefined,
    remove: [],
  });
  assert.deepEqual(
    revisionChanges(known('a', 'b'), 'a', new Set(['b']), 0, 'w').raise,
    { name: 'w-a', revision: 3 },
    'a rollback',
  );
  assert.deepEqual(removed(known('a', 'b', 'c'), 'c', new Set(['c', 'a']), 0, 'w'), ['w-b']);
  assert.deepEqual(
    removed(known('a', 'b', 'c', 'd'), 'd', new Set(), 2, 'w'),
    ['w-a'],
    'the oldest beyond the limit',
  );
});

const nodeSet = {
  apiVersion: 'slinky.slurm.net/v1beta1',
  kind: 'NodeSet',
  metadata: { name: 'w', namespace: 'slurm', uid: 'new' },
  spec: { revisionHistoryLimit: 0, controllerRef: { name: 'main' } },
} as unknown as NodeSet;

test('the name of a new revision may be taken: by one without an owner, which is adopted, or by another’s, which is waited for', () => {
  const cases: readonly [reason: string, observed: ObservedRevisions, expected: string[]][] = [
    ['free', { ours: [], ofNewestName: undefined }, ['create ControllerRevision w-a']],
    [
      'left by a NodeSet that was deleted without what it owned',
      { ours: [], ofNewestName: { uid: 'old', isOwned: false } },
      ['patch ControllerRevision w-a'],
    ],
    [
      'of a NodeSet of this name that is gone, not collected yet',
      { ours: [], ofNewestName: { uid: 'old', isOwned: true } },
      [],
    ],
    ['ours', { ours: known('a'), ofNewestName: { uid: 'uid-a', isOwned: true } }, []],
  ];
  for (const [reason, given, expected] of cases)
    assert.deepEqual(describeActions(planRevisions(nodeSet, 'a', new Set(), given)), expected, reason);
});

test('an adopted revision is meant by its uid and gets the NodeSet as its owner', () => {
  const [action] = planRevisions(nodeSet, 'a', new Set(), {
    ours: [],
    ofNewestName: { uid: 'old', isOwned: false },
  });
  assert.ok(action?.type === 'Patch');
  const { metadata } = action.body as { metadata: { uid: string; ownerReferences: { uid: string }[] } };
  assert.equal(metadata.uid, 'old');
  assert.deepEqual(
    metadata.ownerReferences.map(({ uid }) => uid),
    ['new'],
  );
});

/** Workers below the partition are recreated with their revision, like those of a StatefulSet. */
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

test('a worker that Slurm wakes is the newest, below the partition too: the record that got its job was made of that', () => {
  const waking = slurmNode(0, { base: 'ALLOCATED', flags: new Set(['CLOUD', 'POWERING_UP']) });
  const given = observed([], [waking], {
    autoscale: autoscaled({ max: 1 }),
    replicas: 1,
    currentRevision: 'r0',
    update: below(1),
  });
  const made = planWorkers(given, now).actions.filter(({ kind }) => kind === 'create-worker');
  assert.deepEqual(made, [
    { kind: 'create-worker', slot: { mode: 'StatefulSet', ordinal: 0 }, forWakeUp: true },
  ]);
});

test('a worker that was recreated below the partition is kept', () => {
  const workers = [worker(0, { revision: 'r0' }), worker(1)];
  const given = observed(workers, [slurmNode(0), slurmNode(1)], { currentRevision: 'r0', update: below(1) });
  assert.deepEqual(planWorkers(given, now).toRemove, []);
});
