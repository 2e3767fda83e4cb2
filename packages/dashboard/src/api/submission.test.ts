import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobSubmission, SlurmAssociation, SlurmPartition } from '@slurm-operator/slurm';
import type { NodeRow } from '../live/node-row.ts';
import { checkAccount, checkPartitions } from './check-submission.ts';
import { isBadField } from './read-input.ts';
import { readSubmission } from './submission.ts';

const script = (...lines: readonly string[]) => ['#!/bin/sh', ...lines, 'srun hostname'].join('\n');

test('lines of the script count where a field is empty, and a field wins over a line', () => {
  const text = script(
    '#SBATCH -N 4 -p gpu --mem=2G --mem-per-cpu=512',
    '#SBATCH -w n[1-2] --array=0-9%2 --no-requeue',
  );
  const read = readSubmission({ script: text, nodes: '2', partition: '', name: 'two words' });
  assert.deepEqual(read, {
    script: text,
    name: 'two words',
    partition: 'gpu',
    array: '0-9%2',
    nodes: 2,
    memory: 2048,
    requiredNodes: ['n1', 'n2'],
    requeue: false,
    more: { memory_per_cpu: { set: true, infinite: false, number: 512 } },
  });
});

test('a line that cannot be passed on is refused, unless the user says so', () => {
  const body = { script: script('#SBATCH --mail-type=END') };
  const refused = readSubmission(body);
  assert.ok(isBadField(refused));
  assert.equal(refused.field, 'script');
  assert.match(refused.message, /^Line 2: --mail-type=END/);
  assert.ok(!isBadField(readSubmission({ ...body, unchecked: true })));
});

test('values of lines are checked like those of fields', () => {
  for (const [field, line] of [
    ['partition', '-p "a;b"'],
    ['nodes', '-N many'],
    ['timeLimit', '-t tomorrow'],
    ['directory', '-D work'],
    ['requiredNodes', '-w n[1-'],
    ['requiredNodes', '-w n[1-1000000]'],
    ['array', '-a $(x)'],
    ['dependency', '-d "afterok:1 2"'],
  ] as const) {
    const read = readSubmission({ script: script(`#SBATCH ${line}`) });
    assert.ok(isBadField(read), line);
    assert.equal(read.field, field, line);
  }
});

const partition = (name: string, more: Partial<SlurmPartition> = {}) =>
  ({
    name,
    state: ['UP'],
    nodes: 'n[0-3]',
    isDefault: false,
    maxTime: 'infinite',
    maxNodes: 'infinite',
    ...more,
  }) as SlurmPartition; // the fields that are read
const row = (key: string, cpus: number, gpus = 0) => ({ key, cpus, gpus, memory: cpus * 1000 }) as NodeRow; // the fields that are read
const nodes = new Map(
  [row('n0', 8), row('n1', 8), row('n2', 64, 4), row('n3', 64, 4)].map((one) => [one.key, one]),
);
const check = (submission: Partial<JobSubmission>, ...partitions: readonly SlurmPartition[]) =>
  checkPartitions({ script: '', ...submission }, partitions, nodes);

test('a job that could never start is named with the field that keeps it from it', () => {
  const all = partition('all', { isDefault: true, maxTime: 60, maxNodes: 3 });
  const down = partition('night', { state: ['DOWN'] });
  for (const [submission, field, message] of [
    [{ partition: 'gpu' }, 'partition', /no partition gpu: there is all, night/],
    [{ partition: 'night' }, 'partition', /Partition night is down/],
    [{ timeLimit: '2:00:00' }, 'timeLimit', /at most 01:00:00/],
    [{ timeLimit: 'infinite' }, 'timeLimit', /at most/],
    [{ nodes: 4 }, 'nodes', /at most 3 nodes/],
    [{ cpusPerTask: 128 }, 'cpusPerTask', /has 128 CPUs: the largest has 64/],
    [{ memory: 100_000 }, 'memory', /largest has 64000/],
    [{ tresPerNode: 'gres/gpu:h100:8' }, 'tresPerNode', /has 8 GPUs: the largest has 4/],
    [{ tresPerNode: 'gres/gpu:4', nodes: 3 }, 'nodes', /Of the 4 nodes of partition all, 2 are large enough/],
  ] as const) {
    const problem = check(submission, all, down);
    assert.equal(problem?.field, field, JSON.stringify(submission));
    assert.match(problem?.message ?? '', message);
  }
});

test('what could start is sent, and so is what is not known', () => {
  const all = partition('all', { isDefault: true });
  for (const submission of [
    {},
    { nodes: 2, tresPerNode: 'gres/gpu:4' },
    { timeLimit: 'infinite' },
    { memory: 0 },
  ])
    assert.equal(check(submission, all), undefined);
  const tight = partition('tight', { maxTime: 1 });
  assert.equal(
    check({ partition: 'tight,all', timeLimit: '1:00:00' }, all, tight),
    undefined,
    'one is enough',
  );
  assert.equal(check({ cpusPerTask: 999 }, partition('empty', { isDefault: true, nodes: '' })), undefined);
  assert.equal(check({ cpusPerTask: 999 }), undefined, 'no default partition: Slurm decides');
});

test('an account of others is named; a user without any may be hidden', () => {
  const of = (user: string, account: string) => ({ user, account }) as SlurmAssociation; // the fields that are read
  const known = [of('alice', 'physics'), of('alice', 'shared'), of('bob', 'chemistry')];
  assert.equal(checkAccount('physics', 'alice', known), undefined);
  assert.match(
    checkAccount('chemistry', 'alice', known)?.message ?? '',
    /alice has no account chemistry: there is physics, shared/,
  );
  assert.equal(checkAccount('chemistry', 'carol', known), undefined);
});
