import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commands } from '../commands/index.ts';
import { commandHelp, overview } from './help.ts';
import { nearest, parse } from './parse.ts';

test('finds the command, its arguments and flags in any order', () => {
  const line = parse(['-n', 'hpc', 'drain', 'gpu-3', '--reason=new disk', 'gpu-4', '-y'], commands);
  assert.equal(line.command?.name, 'drain');
  assert.deepEqual(line.args, ['gpu-3', 'gpu-4']);
  assert.equal(line.text('reason'), 'new disk');
  assert.equal(line.text('namespace'), 'hpc');
  assert.equal(line.has('yes'), true);
  assert.equal(line.has('wait'), false);
});

test('reads -nhpc, --flag=false, repeated flags and two words', () => {
  const line = parse(
    ['rollout', 'status', '-nhpc', 'nodeset/gpu', '--no-headers=false', '--as-group', 'a', '--as-group=b'],
    commands,
  );
  assert.equal(line.command?.name, 'rollout status');
  assert.equal(line.text('namespace'), 'hpc');
  assert.equal(line.has('no-headers'), false);
  assert.deepEqual(line.texts('as-group'), ['a', 'b']);
  assert.deepEqual(line.args, ['nodeset/gpu']);
});

test('passes the words of another program on as they are', () => {
  for (const words of [
    ['scontrol', 'show', 'job', '-d', '7'],
    ['scontrol', '-n', 'hpc', '--', 'show', 'job', '-d', '7'],
  ]) {
    const line = parse(words, commands);
    assert.equal(line.command?.name, 'scontrol');
    assert.deepEqual(line.rest, ['show', 'job', '-d', '7']);
  }
  assert.deepEqual(parse(['exec', 'gpu-3', '--', 'ls', '-l'], commands).rest, ['ls', '-l']);
});

for (const [words, says] of [
  [
    ['jobs', '--pratition', 'x'],
    /unknown flag --pratition; did you mean --partition\? See kubectl slurm jobs --help/,
  ],
  [['jobs', '-o', 'xml'], /-o must be one of table, wide, json, yaml, name, not "xml"/],
  [['jobs', '--user'], /--user needs a value: USER/],
  [['jobs', '--all=3'], /--all is a switch/],
] as const)
  test(`refuses ${words.join(' ')}`, () => {
    assert.throws(() => parse(words, commands), says);
  });

test('suggests a word that is close, and none that is not', () => {
  assert.equal(nearest('nodse', ['nodes', 'jobs']), 'nodes');
  assert.equal(nearest('xyzzy', ['nodes', 'jobs']), undefined);
});

test('every command has a summary without a full stop, an example that parses to it, and help', () => {
  for (const command of commands) {
    assert.match(command.summary, /^[A-Z].*[^.]$/, command.name);
    assert.ok(command.examples.length > 0, command.name);
    for (const example of command.examples.filter((one) => !one.startsWith('export '))) {
      const words = example.split(' > ')[0]?.match(/"[^"]*"|\S+/g) ?? [];
      assert.equal(parse(words, commands).command?.name, command.name, example);
    }
    assert.match(commandHelp(command), new RegExp(`kubectl slurm ${command.name}`));
  }
  const help = overview(commands);
  for (const { name } of commands) assert.ok(help.includes(`  ${name} `), name);
  assert.ok(Math.max(...help.split('\n').map((line) => line.length)) <= 112);
});

test('what belongs to a program of Slurm reaches it', () => {
  for (const [words, rest, namespace] of [
    [['sinfo', '-s'], ['-s'], undefined],
    [['squeue', '-o', '%i %j'], ['-o', '%i %j'], undefined],
    [['squeue', '-h', '--user', 'alice'], ['-h', '--user', 'alice'], undefined],
    [['sacct', '-n', 'hpc', '--', '-n'], ['-n'], 'hpc'],
    [['-n', 'hpc', 'scontrol', 'show', 'job', '7'], ['show', 'job', '7'], 'hpc'],
    [['sinfo', '--namespace=hpc', '-R'], ['-R'], 'hpc'],
  ] as const) {
    const line = parse(words, commands);
    assert.deepEqual([line.rest, line.text('namespace')], [rest, namespace], words.join(' '));
  }
});
