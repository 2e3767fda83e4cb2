/** When slurmctld is told to do without files that never were: only on a restart, and only on a state that is a beginning. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCommand } from '@slurm-operator/sandbox';

const script = join(import.meta.dirname, 'slurmctld.bash');
const made: string[] = [];
after(async () => {
  for (const directory of made) await rm(directory, { recursive: true });
});

/** The options with which the script starts slurmctld, which is a stub here. */
async function start(files: readonly string[], over: { restart?: boolean; accounting?: boolean } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'slurmctld-bash-'));
  made.push(directory);
  const { restart = true, accounting = true } = over;
  for (const name of ['state', 'run', 'bin']) await mkdir(join(directory, name));
  for (const file of files) await writeFile(join(directory, 'state', file), '');
  if (restart) await writeFile(join(directory, 'run', 'started'), '');
  const conf = join(directory, 'slurm.conf');
  await writeFile(
    conf,
    `ClusterName=a\nstatesavelocation = ${directory}/state # here\nAccountingStorageType=accounting_storage/${accounting ? 'slurmdbd' : 'none'}\n`,
  );
  const stub = join(directory, 'bin', 'slurmctld');
  await writeFile(stub, '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
  const { stdout } = await runCommand(['bash', script, '-v'], {
    env: {
      PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`,
      SLURM_CONF: conf,
      SLURMCTLD_RUN: join(directory, 'run'),
    },
  });
  return stdout.trim();
}

const whole = ['clustername', 'job_state', 'node_state', 'assoc_usage', 'qos_usage'];
const cases: readonly {
  readonly name: string;
  readonly files: readonly string[];
  readonly over?: { restart?: boolean; accounting?: boolean };
  readonly ignores: boolean;
}[] = [
  { name: 'a first start', files: ['clustername'], over: { restart: false }, ignores: false },
  { name: 'an empty state', files: [], ignores: false },
  { name: 'a whole state', files: whole, ignores: false },
  { name: 'killed in the first second', files: ['clustername'], ignores: true },
  {
    name: 'killed before the usage of accounts was saved',
    files: ['clustername', 'job_state', 'node_state'],
    ignores: true,
  },
  { name: 'killed before the first job', files: ['clustername', 'node_state'], ignores: true },
  {
    name: 'killed in the first second, without accounting',
    files: ['clustername'],
    over: { accounting: false },
    ignores: true,
  },
  {
    name: 'the same without accounting, where nothing is missing',
    files: ['clustername', 'job_state', 'node_state'],
    over: { accounting: false },
    ignores: false,
  },
  {
    name: 'only old copies of the usage are left',
    files: ['clustername', 'job_state', 'node_state', 'assoc_usage.old', 'qos_usage.old'],
    ignores: false,
  },
  {
    name: 'a state that was whole once has lost its jobs',
    files: ['clustername', 'node_state', 'assoc_usage', 'qos_usage'],
    ignores: false,
  },
];

for (const { name, files, over, ignores } of cases)
  test(`${name}: ${ignores ? 'starts without what never was' : 'Slurm decides'}`, async () => {
    assert.equal(await start(files, over), ignores ? '-D -v -i' : '-D -v');
  });
