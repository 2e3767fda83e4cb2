import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Observed } from '@slurm-operator/operator/dry-run';
import { nodeNames } from './plan-view.ts';

const observed = (names: readonly (readonly [string, string])[]) =>
  ({
    name: 'slurm-worker-gpu',
    workers: names.map(([name, slurmName]) => ({ name, slurmName })),
  }) as unknown as Observed;

test('workers have the names of Slurm, also those that do not exist yet', () => {
  const known = observed([
    ['slurm-worker-gpu-0', 'gpu-0'],
    ['slurm-worker-gpu-1', 'gpu-1'],
  ]);
  assert.deepEqual(nodeNames(['slurm-worker-gpu-1', 'slurm-worker-gpu-2'], known), ['gpu-1', 'gpu-2']);
  assert.deepEqual(nodeNames(['slurm-worker-gpu-2'], observed([])), ['slurm-worker-gpu-2']);
});
