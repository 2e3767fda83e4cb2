import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardConfig, needsSlurm } from './guard-config.ts';
import type { NodeWork, SlurmWork, WorkJob } from './slurm-work.ts';

const base = 'NodeSet=w Feature=w\nPartitionName=all Nodes=ALL\n';
const saving = (timeout: number) =>
  `SchedulerParameters=requeue_on_resume_failure\nResumeProgram=/bin/true\nSuspendProgram=/bin/true\nResumeTimeout=${timeout}\nSuspendTimeout=600\nSuspendTime=315360000\nResumeRate=0\nSuspendRate=0\n${base}`;
const job: WorkJob = { id: '7', active: true, partitions: ['all'], nodes: ['w-0'], gres: [], array: false };
const node = (over: Partial<NodeWork> = {}): NodeWork => ({
  drained: false,
  byGuard: false,
  line: undefined,
  ...over,
});
const slurm = (isAsleep: boolean, jobs: readonly WorkJob[] = [job]): SlurmWork => ({
  kind: 'known',
  jobs,
  partitions: new Map([['all', true]]),
  partitionSets: new Map(),
  nodes: new Map([
    ['w-0', node({ isAsleep })],
    ['w-1', node()],
  ]),
  nodeCount: 2,
  jobCount: jobs.length,
});
const names = (desired: string, work: SlurmWork, inForce = saving(960)) =>
  guardConfig({ inForce, desired, slurm: work }).holds.map(({ name, cause }) => `${name} ${cause}`);

test('power saving stays while a job waits for a node to wake up', () => {
  const { holds, text } = guardConfig({ inForce: saving(960), desired: base, slurm: slurm(true) });
  for (const line of [
    'ResumeProgram=/bin/true',
    'SuspendTime=315360000',
    'ResumeTimeout=960',
    'ResumeRate=0',
  ])
    assert.match(text, new RegExp(`^${line}$`, 'm'));
  assert.equal(
    holds[0]?.message,
    'Power saving stays on, because Slurm would give up the nodes that it wakes for 1 running job (7). It changes when they have started.',
  );
  assert.deepEqual(names(base, slurm(false)), [], 'its node is awake');
  assert.deepEqual(names(base, slurm(true, [{ ...job, nodes: ['w-1'] }])), [], 'it waits for nothing');
  assert.deepEqual(names(base, slurm(true, [{ ...job, active: false }])), [], 'it has no node yet');
});

test('a shorter ResumeTimeout waits for the same jobs, and a longer one does not', () => {
  assert.deepEqual(names(saving(360), slurm(true)), ['ResumeTimeout jobs']);
  assert.deepEqual(names(saving(1860), slurm(true)), []);
  const { text } = guardConfig({ inForce: saving(960), desired: saving(360), slurm: slurm(true) });
  assert.match(text, /ResumeTimeout=360[^]*ResumeTimeout=960/, 'the last one counts');
});

test('while the jobs are unknown, power saving does not end; without it nothing is asked', () => {
  const unknown: SlurmWork = { kind: 'unknown', why: 'no answer' };
  assert.deepEqual(names(saving(360), unknown), ['ResumeTimeout unknown']);
  assert.equal(names(base, unknown)[0], 'ResumeProgram unknown');
  assert.equal(needsSlurm(saving(960), base), true);
  assert.equal(needsSlurm(base, saving(960)), false);
});
