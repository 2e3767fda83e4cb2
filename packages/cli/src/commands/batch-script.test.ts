import assert from 'node:assert/strict';
import { test } from 'node:test';
import { megabytes, readBatchScript } from './batch-script.ts';

test('reads long and short options of #SBATCH lines up to the first command', () => {
  const job = readBatchScript(
    `#!/bin/bash
#SBATCH --job-name=train -p gpu
#SBATCH -N 2 --time=1-00:00:00   # a day
#SBATCH --gres=gpu:a100:4,gres/x:1
#SBATCH --mem=4G
#SBATCH --comment="two words"
#SBATCH --hold
# a comment

echo hello
#SBATCH --nodes=99
`,
    'train.sh',
  );
  const { script: _, ...rest } = job;
  assert.deepEqual(rest, {
    name: 'train',
    partition: 'gpu',
    nodes: 2,
    timeLimit: '1-00:00:00',
    tresPerNode: 'gres/gpu:a100:4,gres/x:1',
    memory: 4096,
    comment: 'two words',
    hold: true,
  });
});

for (const [script, says] of [
  ['echo', /does not begin with an interpreter line/],
  ['#!/bin/sh\n#SBATCH --mail-type=ALL', /--mail-type of job\.sh is not known/],
  ['#!/bin/sh\n#SBATCH --nodes=two', /--nodes=two: a whole number/],
  ['#!/bin/sh\n#SBATCH hello', /"hello" is not an option/],
  ['#!/bin/sh\n#SBATCH --mem=lots', /4000M or 4G/],
] as const)
  test(`refuses ${JSON.stringify(script)}`, () => {
    assert.throws(() => readBatchScript(script, 'job.sh'), says);
  });

test('memory has units', () => {
  assert.equal(megabytes('0'), 0, 'for Slurm: all memory of each node');
  assert.equal(megabytes('1K'), 1);
  assert.deepEqual(['512', '512M', '2G', '1T', '1K'].map(megabytes), [512, 512, 2048, 1_048_576, 1]);
});
