/** slurmrestd does not list FUTURE nodes, and slurmctld counts them: seen on 24.11 and 26.05, where the last worker was dropped with its job. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardConfig } from './guard-config.ts';

test('MaxNodeCount is not lowered below the workers and the FUTURE nodes of slurm.conf together', () => {
  const conf = (most: number) => `MaxNodeCount=${most}\nNodeName=f[1-3] CPUs=1 State=FUTURE\n`;
  const node = { drained: false, byGuard: false, line: undefined };
  const slurm = {
    kind: 'known' as const,
    jobs: [],
    partitions: new Map<string, boolean>(),
    partitionSets: new Map(),
    nodes: new Map([
      ['long-0', node],
      ['long-1', node],
    ]),
    nodeCount: 2,
    jobCount: 0,
  };
  const holds = (most: number) => guardConfig({ inForce: conf(10), desired: conf(most), slurm }).holds;
  assert.deepEqual(holds(5), []);
  assert.equal(holds(4)[0]?.name, 'MaxNodeCount');
});
