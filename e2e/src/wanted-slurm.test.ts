import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wantedSlurm } from './wanted-slurm.ts';

test('selects the newest Slurm by default, and refuses an unknown release by name', () => {
  assert.equal(wantedSlurm({}), '26.05');
  assert.equal(wantedSlurm({ SLURM_VERSION: '' }), '26.05');
  assert.equal(wantedSlurm({ SLURM_VERSION: '24.11' }), '24.11');
  assert.throws(() => wantedSlurm({ SLURM_VERSION: '23.02' }), /SLURM_VERSION=23\.02.*26\.05 and 24\.11/);
});
