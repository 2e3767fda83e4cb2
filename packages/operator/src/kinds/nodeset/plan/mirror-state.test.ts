import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slurmNode } from '../../../../testing/observed.ts';
import { stateConditions } from './mirror-state.ts';

const reason = 'slurm-operator: Pod (slurm/w-0) is pending termination for update';

test('the conditions of a drained or down node have its reason', () => {
  assert.deepEqual(
    [...stateConditions(slurmNode(0, { base: 'IDLE', flags: new Set(['DRAIN']), reason }))],
    [
      ['SlurmNodeStateIdle', reason],
      ['SlurmNodeStateDrain', reason],
    ],
  );
  assert.deepEqual(
    [...stateConditions(slurmNode(0, { base: 'DOWN', flags: new Set(), reason }))],
    [['SlurmNodeStateDown', reason]],
  );
});

test('the reason of a drain that is over, which Slurm 24.11 keeps, is not in the conditions', () => {
  assert.deepEqual(
    [...stateConditions(slurmNode(0, { base: 'IDLE', flags: new Set(), reason }))],
    [['SlurmNodeStateIdle', '']],
  );
});
