import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import { describeActions } from '../../../framework/actions.ts';
import {
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
  for (const [reason, observed, expected] of cases)
    assert.deepEqual(describeActions(planRevisions(nodeSet, 'a', new Set(), observed)), expected, reason);
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
