import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardConfig } from './guard-config.ts';
import type { SlurmWork, WorkJob } from './slurm-work.ts';

const base = 'NodeSet=long Feature=long\nPartitionName=long Nodes=long\n';
const changed = `${base}MessageTimeout=33\n`;
const pending = (id: string, nodes: readonly string[], over: Partial<WorkJob> = {}): WorkJob => ({
  id,
  active: false,
  partitions: ['long'],
  nodes,
  gres: [],
  array: false,
  ...over,
});
const node = { drained: false, byGuard: false, line: undefined };
const known = (...jobs: readonly WorkJob[]): SlurmWork => ({
  kind: 'known',
  jobs,
  partitions: new Map([['long', true]]),
  partitionSets: new Map(),
  nodes: new Map([['long-0', node]]),
  nodeCount: 1,
  jobCount: jobs.length,
});
const run = (slurm: SlurmWork, over: object = {}) =>
  guardConfig({ inForce: base, desired: changed, slurm, ...over });

test('every change waits while a pending job asks for a node that Slurm does not have', () => {
  const { text, holds } = run(known(pending('20', ['long-0', 'long-1']), pending('21', ['long-1'])));
  assert.equal(text, base);
  const shown = holds.map(({ kind, name, cause, byRestart }) => ({ kind, name, cause, byRestart }));
  assert.deepEqual(shown, [{ kind: 'Configuration', name: 'long-1', cause: 'jobs', byRestart: true }]);
  assert.equal(
    holds[0]?.message,
    'The configuration is not changed, because Slurm would end 2 pending jobs (20, 21): they ask for node long-1, which Slurm does not have. Scale out until the node is back, or cancel with "scancel 20 21"; Slurm refuses other changes of such a job.',
  );
  const reread = run(known(pending('20', ['long-1'])), { desired: base, rereads: true });
  assert.equal(reread.holds.length, 1, 'files beside slurm.conf are read with it');
});

test('jobs that get their node, or that the user gave up, hold nothing', () => {
  const free = (slurm: SlurmWork, over: object = {}) => assert.deepEqual(run(slurm, over).holds, []);
  free(known(pending('20', ['long-0']), pending('21', [])));
  free(known(pending('20', ['long-1'], { active: true })));
  const future = {
    inForce: `NodeName=f1 State=FUTURE\n${base}`,
    desired: `NodeName=f1 State=FUTURE\n${changed}`,
  };
  free(known(pending('20', ['f1'])), future);
  free(known(pending('20', ['n1'])), { desired: `NodeName=n1 CPUs=1\n${changed}` });
  for (const policy of ['pending', 'all'])
    free(known(pending('20', ['long-1'])), { released: new Map([['long', policy]]) });
});

test('the holds of many such nodes are bounded', () => {
  const jobs = Array.from({ length: 5_000 }, (_, at) => pending(String(at), [`gone-${at % 100}`]));
  assert.equal(run(known(...jobs)).holds.length, 8);
});
