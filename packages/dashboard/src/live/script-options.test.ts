import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scriptOptions } from './script-options.ts';

const script = (...lines: readonly string[]) => ['#!/bin/bash', ...lines, 'srun hostname'].join('\n');

test('options in every form that sbatch takes', () => {
  const { fields, problems } = scriptOptions(
    script(
      '#SBATCH --job-name="my job"   # a comment',
      '#SBATCH -p gpu -N2 --ntasks-per-node 8',
      '#SBATCH --cpus-per-task=4 --mem=4G',
      '',
      '# an ordinary comment',
      '#SBATCH --gres=gpu:h100:2,shard:1',
      '#SBATCH -t 1-00:00:00',
      '#SBATCH --array=0-9%2 --requeue -H',
      '#SBATCH -o out-%j.txt',
    ),
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(fields, {
    name: 'my job',
    partition: 'gpu',
    nodes: '2',
    tasksPerNode: '8',
    cpusPerTask: '4',
    memory: '4096',
    tresPerNode: 'gres/gpu:h100:2,gres/shard:1',
    timeLimit: '1-00:00:00',
    array: '0-9%2',
    requeue: 'yes',
    hold: 'yes',
    standardOutput: 'out-%j.txt',
  });
});

test('a later line wins; lines after the first command, and those that only look alike, count nothing', () => {
  const { fields, problems } = scriptOptions(
    script(
      '#SBATCH -N 1',
      '#SBATCH -N 3',
      '##SBATCH -N 4',
      '# SBATCH -N 5',
      '#SBATCHING -N 6',
      'set -e',
      '#SBATCH -N 7',
    ),
  );
  assert.deepEqual([fields, problems], [{ nodes: '3' }, []]);
});

test('what cannot be passed on is named with its line, and nothing else is lost', () => {
  const { fields, problems } = scriptOptions(
    script(
      '#SBATCH --mail-type=ALL --nodes=2',
      '#SBATCH --gpu-bind closest -J next',
      '#SBATCH --mem=much',
      '#SBATCH --time',
    ),
  );
  assert.deepEqual(fields, { nodes: '2', name: 'next' });
  assert.deepEqual(
    problems.map((one) => one.replace(/(is no option|cannot be|has no).*/, '$1')),
    [
      'Line 2: --mail-type=ALL is no option',
      'Line 3: --gpu-bind is no option',
      'Line 4: --mem much cannot be',
      'Line 5: --time has no',
    ],
  );
});

test('whatever a script contains, it is read, and only known fields come out', () => {
  const known = new Set(Object.keys(scriptOptions(script('#SBATCH -N1')).fields));
  assert.deepEqual([...known], ['nodes']);
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 40 }), { maxLength: 20 }), (lines) => {
      const { fields } = scriptOptions(
        script(...lines.map((line) => `#SBATCH ${line.replaceAll('\n', ' ')}`)),
      );
      for (const [name, value] of Object.entries(fields)) {
        assert.match(name, /^[a-zA-Z]+$/);
        assert.equal(typeof value, 'string');
      }
    }),
  );
});
