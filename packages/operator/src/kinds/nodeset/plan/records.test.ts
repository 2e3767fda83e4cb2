/** What happens to records in Slurm whose worker is gone. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kubeNode, now, observed, slurmNode, withoutJobs } from '../../../../testing/observed.ts';
import type { Observed, SlurmNode } from '../model/observed.ts';
import { planWorkers } from './plan-workers.ts';

interface Case {
  readonly reason: string;
  readonly node?: Partial<SlurmNode>;
  readonly over?: Partial<Observed>;
  readonly does: string[];
  /** Whether Slurm is asked often until it is gone. */
  readonly waits?: boolean;
}

const ours = { flags: new Set(['DRAIN']), reason: 'slurm-operator: going' };
const theirs = { flags: new Set(['DRAIN']), reason: 'bad disk' };
const daemons = { scalingMode: 'DaemonSet' } as const;
const itsMachine = { nodes: new Map([['w-0', kubeNode('w-0', { eligible: false })]]) };

const cases: readonly Case[] = [
  { reason: 'it is drained first', does: ['drain'], waits: true },
  { reason: 'drained, it goes', node: ours, does: ['delete-record'], waits: true },
  { reason: 'down, it goes', node: { base: 'DOWN' }, does: ['delete-record'], waits: true },
  {
    reason: 'with work it waits for Slurm to notice: nothing is known of the containers (L11)',
    node: { ...ours, base: 'ALLOCATED' },
    does: [],
    waits: true,
  },
  { reason: 'of another set it is left alone', node: { ...ours, ours: false }, does: [] },
  { reason: 'with a user’s note about the machine it stays (L2)', node: theirs, does: [] },
  {
    reason: 'a set that goes takes it along, note or not',
    node: theirs,
    over: { deleting: true },
    does: ['delete-record'],
    waits: true,
  },
  {
    reason: 'after our last change of it a newer list is waited for',
    node: ours,
    over: { lastWrites: new Map([['w-0', now]]) },
    does: [],
    waits: true,
  },
  {
    reason: 'of a machine that may come back it stays',
    over: { ...daemons, pruneRecords: 'Never' },
    does: [],
  },
  {
    reason: 'of a machine that is gone it goes if the user wants that',
    over: { ...daemons, pruneRecords: 'NodeNotFound' },
    does: ['drain'],
    waits: true,
  },
  {
    reason: 'of a machine that is there it stays',
    over: { ...daemons, ...itsMachine, pruneRecords: 'NodeNotFound' },
    does: [],
  },
  {
    reason: 'whose machine has a worker of another name, because there were ordinals before, it goes',
    node: { comment: '{"node":"m1"}' },
    over: { ...daemons, nodes: new Map([['m1', kubeNode('m1', { eligible: false })]]) },
    does: ['drain'],
    waits: true,
  },
  {
    reason: 'that we drained it goes in DaemonSet mode too: its worker was sent away',
    node: ours,
    over: { ...daemons, ...itsMachine },
    does: ['delete-record'],
    waits: true,
  },
];

describe('a record whose worker is gone', () => {
  for (const { reason, node = {}, over = {}, does, waits = false } of cases)
    test(reason, () => {
      const made = planWorkers(observed([], [slurmNode(0, node)], over), now);
      assert.deepEqual(
        made.actions.map((action) => action.kind),
        does,
      );
      assert.equal(made.waitsForSlurm, waits && 'changes');
    });
});

test('a drained record stays while its only job may be suspended: Slurm would end that job with it', () => {
  const made = planWorkers(withoutJobs(observed([], [slurmNode(0, ours)])), now);
  assert.deepEqual([made.actions, made.waitsForSlurm], [[], 'changes']);
});

test('a record in a user’s active reservation stays until that ends; a deleted NodeSet removes it', () => {
  const reserved = slurmNode(0, { ...ours, reservation: 'physics' });
  const kinds = (over: Partial<Observed>) =>
    planWorkers(observed([], [reserved], over), now).actions.map(({ kind }) => kind);
  assert.deepEqual(kinds({}), []);
  assert.equal(planWorkers(observed([], [reserved]), now).waitsForSlurm, false, 'it may last for weeks');
  assert.deepEqual(kinds({ deleting: true }), ['delete-record']);
  assert.deepEqual(kinds({ update: { ...observed([], []).update, reservation: 'physics' } }), [
    'delete-record',
  ]);
});
