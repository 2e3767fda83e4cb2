import assert from 'node:assert/strict';
import { test } from 'node:test';
import { job, slurmNode } from '../../testing/index.ts';
import { couldRun, demandOf, describeDemand, fitsNow, gpus } from './job-demand.ts';

test('counts GPUs in every form that Slurm writes', () => {
  for (const [text, number] of [
    ['', 0],
    ['gpu:8', 8],
    ['gpu:a100:8(S:0-1)', 8],
    ['gpu:a100:4,gpu:h100:2', 6],
    ['gpu:a100:2(IDX:0-1)', 2],
    ['gres/gpu:2', 2],
    ['gres/gpu=4', 4],
    ['cpu=8,mem=4G,gres/gpu=4', 4],
    ['gres:gpu:a100:3', 3],
    ['craynetwork:4', 0],
  ] as const)
    assert.equal(gpus(text), number, text);
});

test('compares what a job asks for with a node, empty and as it is', () => {
  const demand = demandOf(
    job(1, { nodeCount: 2, cpus: 16, tresPerNode: 'gres/gpu:4', memoryPerNode: 2048, constraints: 'a100' }),
  );
  assert.equal(describeDemand(demand), '2 nodes with 4 GPUs, 8 CPUs, 2 GB of memory, the feature a100');
  assert.equal(couldRun(slurmNode('a'), demand), true);
  assert.equal(couldRun(slurmNode('a', { gres: 'gpu:a100:2' }), demand), false);
  assert.equal(couldRun(slurmNode('a', { memory: 1000 }), demand), false);
  assert.equal(couldRun(slurmNode('a', { features: [], activeFeatures: [] }), demand), false);
  assert.equal(fitsNow(slurmNode('a', { allocatedCpus: 60 }), demand), false);
  assert.equal(fitsNow(slurmNode('a', { gresUsed: 'gpu:a100:6(IDX:0-5)' }), demand), false);
  assert.equal(fitsNow(slurmNode('a', { state: 'IDLE+DRAIN' }), demand), false);
  assert.equal(fitsNow(slurmNode('a', { state: 'MIXED', allocatedCpus: 8 }), demand), true);
});
