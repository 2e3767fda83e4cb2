import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SlurmNode } from '@slurm-operator/slurm';
import { observeSlurmNode } from './observe-slurm.ts';

const set = { namespace: 'slurm', name: 'gpu', uid: 'set' };
const comment = (over: object = {}) =>
  JSON.stringify({ namespace: 'slurm', nodeSetName: 'gpu', nodeSetUID: 'set', ...over });

const instanceType = 'slinky.slurm.net/nodeset:set';

function listed(over: Partial<SlurmNode>): SlurmNode {
  const state = { base: 'IDLE', flags: new Set() };
  const node = {
    name: 'gpu-0',
    state,
    reason: '',
    comment: '',
    features: ['gpu'],
    gres: '',
    instanceId: '',
    instanceType: '',
    partitions: [],
  };
  return { ...node, ...over } as unknown as SlurmNode;
}

describe('a record is a worker’s of this very set', () => {
  const cases: readonly [reason: string, over: Partial<SlurmNode>, ours: boolean][] = [
    ['by its comment, whatever it is called', { name: 'rack7', features: [], comment: comment() }, true],
    ['not by a comment of another set', { comment: comment({ nodeSetName: 'cpu' }) }, false],
    ['not by one of another namespace', { comment: comment({ namespace: 'hpc' }) }, false],
    ['not by one of a set of this name that is gone', { comment: comment({ nodeSetUID: 'old' }) }, false],
    [
      'not when a slurmd of another set registered since',
      { comment: comment(), instanceType: `${instanceType}x` },
      false,
    ],
    [
      'by its comment, whatever a slurmd that we did not create calls its type',
      { comment: comment(), instanceType: 'p4d' },
      true,
    ],
    ['by what its slurmd registered with, before it has a comment', { instanceType }, true],
    ['not by its name and feature', {}, false],
    ['not by what a slurmd of another set registered with', { instanceType: `${instanceType}x` }, false],
    ['not where a person wrote a comment of their own', { instanceType, comment: 'do not touch' }, false],
    ['not where the comment cannot be read', { comment: '{"namespace":' }, false],
  ];
  for (const [reason, over, ours] of cases)
    test(reason, () => assert.equal(observeSlurmNode(listed(over), undefined, set).ours, ours));
});

test('work without a limit never ends; an empty instance id and reservation are none', () => {
  const seen = observeSlurmNode(listed({ reservation: '' }), 'infinite', set);
  assert.equal(seen.deadline, Number.POSITIVE_INFINITY);
  assert.equal(seen.instanceId, undefined);
  assert.equal(seen.reservation, undefined);
  assert.equal(observeSlurmNode(listed({}), 5_000, set).deadline, 5_000);
});

test('tells whether the partition of its NodeSet contains it', () => {
  const partition = { ...set, partition: 'gpu' };
  const isOutside = (partitions: string[], of = partition) =>
    observeSlurmNode(listed({ partitions }), undefined, of).outsidePartition === true;
  assert.deepEqual([isOutside(['all', 'gpu']), isOutside(['all']), isOutside([])], [false, true, true]);
  assert.equal(observeSlurmNode(listed({ partitions: [] }), undefined, set).outsidePartition, undefined);
});
