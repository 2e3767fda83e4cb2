/** What is done for slurmctld before it starts: -i for files that never were, on a restart; an exchange of files that was cut short. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCommand } from '@slurm-operator/sandbox';

const script = join(import.meta.dirname, 'slurmctld.bash');
const made: string[] = [];
after(async () => {
  for (const directory of made) await rm(directory, { recursive: true });
});

/** The options with which the script starts slurmctld, which is a stub here, and the state that it finds. Files hold their first names. */
async function start(
  files: readonly string[],
  over: { restart?: boolean; accounting?: boolean; release?: string; clustername?: string } = {},
) {
  const directory = await mkdtemp(join(tmpdir(), 'slurmctld-bash-'));
  made.push(directory);
  const { restart = true, accounting = true, release = '26.05.5', clustername } = over;
  for (const name of ['state', 'run', 'bin']) await mkdir(join(directory, name));
  for (const file of files) await writeFile(join(directory, 'state', file), file);
  if (clustername !== undefined) await writeFile(join(directory, 'state', 'clustername'), clustername);
  if (restart) await writeFile(join(directory, 'run', 'started'), '');
  const conf = join(directory, 'slurm.conf');
  await writeFile(
    conf,
    `ClusterName=a\nstatesavelocation = ${directory}/state # here\nAccountingStorageType=accounting_storage/${accounting ? 'slurmdbd' : 'none'}\n`,
  );
  const stub = join(directory, 'bin', 'slurmctld');
  await writeFile(stub, `#!/bin/sh\n[ "$1" = -V ] && echo "slurm-wlm ${release}" || echo "$@"\n`, {
    mode: 0o755,
  });
  const { stdout } = await runCommand(['bash', script, '-v'], {
    env: {
      PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`,
      SLURM_CONF: conf,
      SLURMCTLD_RUN: join(directory, 'run'),
    },
  });
  const found: Record<string, string> = {};
  for (const file of await readdir(join(directory, 'state')))
    found[file] = await readFile(join(directory, 'state', file), 'utf8');
  return { options: stdout.trim(), found };
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
    assert.equal((await start(files, over)).options, ignores ? '-D -v -i' : '-D -v');
  });

const exchanges: readonly [name: string, files: readonly string[], found: Record<string, string>][] = [
  [
    'killed between the two renames, it finds what it had written',
    ['clustername', 'job_state.old', 'job_state.new', 'node_state', 'node_state.old'],
    {
      clustername: 'clustername',
      job_state: 'job_state.new',
      'job_state.old': 'job_state.old',
      node_state: 'node_state',
      'node_state.old': 'node_state.old',
    },
  ],
  ['the torso of a first save is left alone', ['job_state.new'], { 'job_state.new': 'job_state.new' }],
  [
    'a save that had not come to its exchange is left alone',
    ['job_state', 'job_state.old', 'job_state.new'],
    { job_state: 'job_state', 'job_state.old': 'job_state.old', 'job_state.new': 'job_state.new' },
  ],
  ['a file that was removed is not restored', ['job_state.old'], { 'job_state.old': 'job_state.old' }],
];

for (const [name, files, found] of exchanges)
  test(name, async () => {
    assert.deepEqual((await start(files, { restart: false })).found, found);
  });

const marker = '.cluster-id-of-slurmdbd';
const ids: readonly (readonly [string, Parameters<typeof start>, string | undefined])[] = [
  [
    '24.11: the id of a time without slurmdbd is forgotten when slurmdbd is added',
    [[], { release: '24.11.5', clustername: 'a|590' }],
    'a',
  ],
  [
    '24.11: the id that slurmdbd gave is kept',
    [[marker], { release: '24.11.5', clustername: 'a|3539' }],
    'a|3539',
  ],
  [
    '24.11: without slurmdbd the id is kept',
    [[], { release: '24.11.5', clustername: 'a|590', accounting: false }],
    'a|590',
  ],
  ['24.11: a first start has none', [[], { release: '24.11.5' }], undefined],
  ['26.05: slurmdbd takes the id of slurmctld', [[], { clustername: 'a|590' }], 'a|590'],
];
for (const [name, given, clustername] of ids)
  test(name, async () => {
    assert.equal((await start(...given)).found['clustername'], clustername);
  });

test('24.11: without slurmdbd its mark goes, because it may be added with another database', async () => {
  const at = { release: '24.11.5', clustername: 'a|3539' };
  assert.equal((await start([marker], { ...at, accounting: false })).found[marker], undefined);
  assert.notEqual((await start([], at)).found[marker], undefined);
});
