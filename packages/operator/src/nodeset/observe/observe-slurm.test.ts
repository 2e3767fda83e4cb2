import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SlurmNode } from '@slurm-operator/slurm';
import { observeSlurmNode } from './observe-slurm.ts';

const set = { namespace: 'slurm', name: 'gpu', uid: 'set', feature: 'gpu', prefix: 'gpu-' };
const comment = (over: object = {}) =>
  JSON.stringify({ namespace: 'slurm', nodeSetName: 'gpu', nodeSetUID: 'set', ...over });

function listed(over: Partial<SlurmNode>): SlurmNode {
  const state = { base: 'IDLE', flags: new Set() };
  const node = { name: 'gpu-0', state, reason: '', comment: '', features: ['gpu'], gres: '', instanceId: '' };
  return { ...node, ...over } as unknown as SlurmNode;
}

describe('a record is a worker’s of this very set', () => {
  const cases: readonly [reason: string, over: Partial<SlurmNode>, ours: boolean][] = [
    ['by its comment, whatever it is called', { name: 'rack7', features: [], comment: comment() }, true],
    ['not by a comment of another set', { comment: comment({ nodeSetName: 'cpu' }) }, false],
    ['not by one of another namespace', { comment: comment({ namespace: 'hpc' }) }, false],
    ['not by one of a set of this name that is gone', { comment: comment({ nodeSetUID: 'old' }) }, false],
    ['by its name and feature, before it has a comment', {}, true],
    ['not by its name alone', { features: [] }, false],
    ['not by its feature alone', { name: 'cpu-0' }, false],
    ['not by a name that only begins like ours', { name: 'gpu-login' }, false],
    ['not where somebody wrote a comment of their own', { comment: 'do not touch' }, false],
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
