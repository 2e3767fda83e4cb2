import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observed, slurmNode } from '../../../../testing/observed.ts';
import type { PendingNeed, PendingNeeds } from '../../../slurm-connection/slurm-gateway.ts';
import { describeKept, keptRecords } from './kept-records.ts';
import type { Observed } from './observed.ts';

const drained = { flags: new Set(['DRAIN']), reason: 'slurm-operator: gone', features: ['w'] };
const records = [0, 1].map((ordinal) => slurmNode(ordinal, drained));
const need = (over: Partial<PendingNeed>): PendingNeed => ({ id: '7', nodes: [], features: [], ...over });
const known = (...jobs: PendingNeed[]): PendingNeeds => ({ kind: 'known', jobs });
const kept = (pendingNeeds: PendingNeeds | undefined, over: Partial<Observed> = {}, others = records) =>
  keptRecords(records, { ...observed([], others), pendingNeeds, ...over }).map(
    ({ name, why, jobs }) => `${name} ${why} ${jobs.join()}`,
  );

test('a record stays that a pending job asks for by name', () => {
  assert.deepEqual(kept(known(need({ nodes: ['w-1'] }))), ['w-1 name 7']);
  assert.deepEqual(kept(known(need({ nodes: ['other'] }))), []);
});

test('one record stays of a feature that a pending job asks for and no other node has', () => {
  assert.deepEqual(kept(known(need({ features: ['w'] }))), ['w-0 feature 7']);
  assert.deepEqual(kept(known(need({ nodes: ['w-1'], features: ['w'] }))), ['w-1 name 7'], 'one is enough');
  const other = slurmNode(9, { features: ['w'] });
  assert.deepEqual(kept(known(need({ features: ['w'] })), {}, [...records, other]), []);
  const drainedToo = slurmNode(9, drained);
  assert.deepEqual(kept(known(need({ features: ['w'] })), {}, [...records, drainedToo]), ['w-0 feature 7']);
});

test('nothing is deleted while it is unknown what pending jobs ask for', () => {
  assert.deepEqual(kept(undefined), ['w-0 unknown ', 'w-1 unknown ']);
  assert.deepEqual(kept({ kind: 'unknown', why: 'no answer' }), ['w-0 unknown ', 'w-1 unknown ']);
});

test('a NodeSet that is deleted keeps what is asked for by name, unless its policy gives those jobs up', () => {
  const both = known(need({ nodes: ['w-1'] }), need({ id: '8', features: ['w'] }));
  assert.deepEqual(kept(both, { deleting: true, deletionPolicy: 'Drain' }), ['w-1 name 7']);
  for (const deletionPolicy of ['CancelPending', 'Delete'] as const)
    assert.deepEqual(kept(both, { deleting: true, deletionPolicy }), []);
});

test('the message names the node, the job and what to do', () => {
  assert.match(
    describeKept([{ name: 'w-1', jobs: ['7'], why: 'name' }]) ?? '',
    /^Slurm node w-1 stays.*job 7 asks for it by name.*scancel 7/,
  );
  assert.equal(describeKept([{ name: 'w-1', jobs: [], why: 'unknown' }]), undefined);
  assert.match(
    describeKept([{ name: 'w-1', jobs: ['7'], why: 'feature', slotWaits: true }]) ?? '',
    /Its next worker has other features, and is created once another node has that feature.*scancel 7/,
  );
});
