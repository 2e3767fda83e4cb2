import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { ControllerRevision, Live, Manager, OwnerReference } from '@slurm-operator/kube';
import { planRevisions, syncRevisions } from './revisions.ts';

const known = (...hashes: string[]) =>
  hashes.map((hash, index) => ({ name: `w-${hash}`, hash, revision: index + 1 }));

test('upstream item 11: revisions are made once, numbered, raised on rollback, and cut to the limit', () => {
  assert.deepEqual(planRevisions([], 'a', new Set(), 0, 'w'), {
    create: { name: 'w-a', revision: 1 },
    raise: undefined,
    remove: [],
  });
  assert.deepEqual(planRevisions(known('a'), 'a', new Set(['a']), 0, 'w'), {
    create: undefined,
    raise: undefined,
    remove: [],
  });
  assert.deepEqual(
    planRevisions(known('a', 'b'), 'a', new Set(['b']), 0, 'w').raise,
    { name: 'w-a', revision: 3 },
    'a rollback',
  );
  assert.deepEqual(
    planRevisions(known('a', 'b', 'c'), 'c', new Set(['c', 'a']), 0, 'w').remove,
    ['w-b'],
    'in use is kept',
  );
  assert.deepEqual(
    planRevisions(known('a', 'b', 'c', 'd'), 'd', new Set(), 2, 'w').remove,
    ['w-a'],
    'the newest of the old are kept',
  );
});

test('the name of a new revision may be taken: by nobody’s, which becomes ours, or by another’s, which is waited for', async () => {
  const nodeSet = {
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'NodeSet',
    metadata: { name: 'w', namespace: 'slurm', uid: 'new' },
    spec: { revisionHistoryLimit: 0 },
  } as unknown as NodeSet;
  const owner = (uid: string): OwnerReference => ({
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'NodeSet',
    name: 'w',
    uid,
    controller: true,
  });
  const cases: readonly [reason: string, owners: OwnerReference[] | undefined, asked: string[]][] = [
    ['free', undefined, ['create w-a']],
    ['left by a NodeSet that was deleted without what it owned', [], ['patch w-a of old for new']],
    ['of a NodeSet of this name that is gone, not collected yet', [owner('gone')], []],
    ['ours', [owner('new')], []],
  ];
  for (const [reason, ownerReferences, expected] of cases) {
    const asked: string[] = [];
    const metadata = { name: 'w-a', uid: 'old', labels: { 'controller.kubernetes.io/hash': 'a' } };
    const there = { metadata: { ...metadata, ownerReferences }, revision: 1 };
    const found = ownerReferences === undefined ? [] : [there as unknown as Live<ControllerRevision>];
    const cache = { list: () => found, get: () => found[0] };
    const client = {
      create: (_kind: unknown, draft: ControllerRevision) => asked.push(`create ${draft.metadata.name}`),
      patch: (_kind: unknown, at: { name: string }, { body }: { body: ControllerRevision }) =>
        asked.push(`patch ${at.name} of ${body.metadata.uid} for ${body.metadata.ownerReferences?.[0]?.uid}`),
    };
    const manager = { cache, client } as unknown as Manager;
    await syncRevisions(nodeSet, 'a', new Set(), manager, new AbortController().signal);
    assert.deepEqual(asked, expected, reason);
  }
});
