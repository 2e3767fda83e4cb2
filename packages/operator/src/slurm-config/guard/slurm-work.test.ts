import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNodeState, type SlurmJob } from '@slurm-operator/slurm';
import { blankNode } from '../../../testing/fake-slurm.ts';
import { closedReason, nodeWork, workJobs } from './slurm-work.ts';

const job = (over: Partial<SlurmJob>): SlurmJob =>
  ({
    id: 1,
    state: ['RUNNING'],
    partition: 'short',
    nodes: '',
    requiredNodes: '',
    tresRequested: '',
    tresAllocated: '',
    tresPer: '',
    ...over,
  }) as SlurmJob;

test('reads generic resources also where Slurm tracks none of them (no AccountingStorageTRES)', () => {
  const gresOf = (over: Partial<SlurmJob>) => workJobs([job(over)])[0]?.gres;
  assert.deepEqual(gresOf({ tresPer: 'gres/gpu:2' }), ['gpu']);
  assert.deepEqual(gresOf({ tresPer: 'gres:shard:1', tresRequested: 'cpu=1,gres/gpu:h200=1' }), [
    'gpu',
    'shard',
  ]);
  assert.deepEqual(gresOf({}), []);
});

test('a node says whether it starts jobs, whose drain it has, and its line in slurm.conf', () => {
  const node = (flags: readonly string[], reason = '') => ({
    ...blankNode('s1'),
    state: parseNodeState(['IDLE', ...flags]),
    reason,
    gres: 'gpu:4(S:0-1)',
  });
  const read = (flags: readonly string[], reason?: string) => nodeWork([node(flags, reason)]).get('s1');
  assert.deepEqual([read([])?.drained, read(['DRAIN'])?.drained], [false, true]);
  assert.equal(read(['DRAIN'], closedReason)?.byGuard, true);
  assert.equal(read(['DRAIN'], 'bad disk')?.byGuard, false);
  assert.match(read([])?.line ?? '', /^NodeName=s1 .*Gres=gpu:4( |$)/);
  assert.equal(read(['DYNAMIC_NORM'])?.line, undefined);
});
