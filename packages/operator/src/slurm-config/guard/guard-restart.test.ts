import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardRestart, prologWaitMs, type RestartGuardInput } from './guard-restart.ts';
import type { SlurmWork, WorkJob } from './slurm-work.ts';

const aJob = (over: Partial<WorkJob> = {}): WorkJob => ({
  id: '7',
  active: true,
  partitions: ['all'],
  nodes: ['w-0'],
  gres: [],
  array: false,
  ...over,
});
const known = (jobs: readonly WorkJob[], partitions: readonly string[] = ['all']): SlurmWork => ({
  kind: 'known',
  jobs,
  partitions: new Map(partitions.map((name) => [name, true])),
  partitionSets: new Map(),
  nodes: new Map([['w-0', { drained: false, byGuard: false, line: undefined }]]),
  nodeCount: 1,
  jobCount: jobs.length,
});
const all = 'PartitionName=all Nodes=ALL\n';
const prolog = `PrologSlurmctld=/etc/slurm/prolog.sh\n${all}`;
const guard = (slurm: SlurmWork, over: Partial<RestartGuardInput> = {}) =>
  guardRestart({ inForce: all, slurm, keepsState: true, waitedMs: 0, ...over }).map(
    ({ kind, name, cause, byRestart }) => `${kind} ${name} ${cause} ${byRestart}`,
  );

test('a restart waits for what Slurm would lose with it, and for nothing else', () => {
  assert.deepEqual(guard(known([aJob()])), [], 'a running job survives it');
  assert.deepEqual(guard(known([aJob({ active: false, nodes: [] })])), [], 'and so does a pending one');
  assert.deepEqual(guard(known([aJob({ partitions: ['adhoc'] })], ['all', 'adhoc'])), [
    'Restart adhoc jobs true',
  ]);
  assert.deepEqual(guard(known([], ['all', 'adhoc'])), ['Restart adhoc closing true']);
  assert.deepEqual(guard(known([aJob({ active: false, nodes: ['w-9'] })])), ['Restart w-9 jobs true']);
  assert.deepEqual(guard(known([aJob()]), { keepsState: false }), ['Restart state jobs true']);
  assert.deepEqual(guard(known([]), { keepsState: false }), []);
});

test('while Slurm does not answer, a restart waits only if partitions may exist that slurm.conf does not name', () => {
  assert.deepEqual(guard({ kind: 'unknown', why: 'no answer' }), []);
  assert.deepEqual(guard({ kind: 'unknown', why: 'no answer', mayForget: 'partition adhoc' }), [
    'Restart partitions unknown true',
  ]);
});

test('a slurmctld that keeps its state in its pod is not restarted while it may have jobs', () => {
  const silent = { kind: 'unknown', why: 'no answer', mayHaveJobs: true } as const;
  assert.deepEqual(guard(silent, { keepsState: false }), ['Restart state unknown true']);
  assert.deepEqual(guard(silent), []);
  assert.deepEqual(guard({ kind: 'unknown', why: 'it never answered' }, { keepsState: false }), []);
});

test('a restart waits for jobs in their PrologSlurmctld, for ten minutes at most', () => {
  const starting = known([aJob({ startingSince: 0 })]);
  assert.deepEqual(guard(starting, { inForce: prolog }), ['Restart PrologSlurmctld jobs true']);
  assert.deepEqual(guard(starting), [], 'without the script the job waits for its nodes');
  assert.deepEqual(guard(starting, { inForce: `include more.conf\n${all}` }), [
    'Restart PrologSlurmctld jobs true',
  ]);
  assert.deepEqual(
    guard(starting, { earlierProlog: true }),
    ['Restart PrologSlurmctld jobs true'],
    'slurmctld may still use the configuration before this one',
  );
  assert.deepEqual(guard(known([aJob()]), { inForce: prolog }), []);
  assert.deepEqual(guard(starting, { inForce: prolog, waitedMs: prologWaitMs }), []);
});

test('the message says what is held, for which jobs, and what to do', () => {
  const [hold] = guardRestart({
    inForce: all,
    slurm: known([aJob({ partitions: ['adhoc'] })], ['all', 'adhoc']),
    keepsState: true,
    waitedMs: 0,
  });
  assert.equal(
    hold?.message,
    'slurmctld is not restarted, because Slurm would forget partition adhoc, which slurm.conf does not name, with its 1 running job (7). Add the partition to spec.extraConf, or move or cancel the jobs.',
  );
});
