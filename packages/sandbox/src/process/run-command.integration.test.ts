import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, PrerequisiteError } from '../errors.ts';
import { runCommand } from './run-command.ts';

test('hands back what a program says, and gives it what it should read', async () => {
  const lines: string[] = [];
  const result = await runCommand(['sh', '-c', 'cat; echo error >&2'], {
    input: 'one\ntwo\n',
    onLine: (line) => lines.push(line),
  });
  assert.deepEqual(result, { exitCode: 0, stdout: 'one\ntwo\n', stderr: 'error\n' });
  assert.deepEqual(lines.toSorted(), ['error', 'one', 'two']);
});

test('a non-zero exit is an error with the last output, unless it is allowed', async () => {
  const command = ['sh', '-c', 'echo why >&2; exit 3'];
  await assert.rejects(runCommand(command), (error) => {
    assert.ok(error instanceof CommandError);
    assert.equal(error.exitCode, 3);
    assert.match(error.message, /exit code 3\nwhy$/);
    return true;
  });
  assert.equal((await runCommand(command, { allowFailure: true })).exitCode, 3);
  await assert.rejects(runCommand(['no-such-program-xyz']), (error) => {
    assert.ok(error instanceof PrerequisiteError);
    assert.equal(error.message, 'no-such-program-xyz is missing: install it, then run this again.');
    return true;
  });
});

test('only the end of much output is kept', async () => {
  const { stdout } = await runCommand(['seq', '1', '20000'], { keepBytes: 1000 });
  assert.equal(stdout.length, 1000);
  assert.ok(stdout.endsWith('19999\n20000\n'));
});

test('an abort and a deadline end the program and what it started', async () => {
  const started = performance.now();
  const command = ['sh', '-c', 'sleep 60 & wait'];
  await assert.rejects(runCommand(command, { signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' });
  await assert.rejects(runCommand(command, { timeoutMs: 100 }), /took longer than it may/);
  // Were the grandchild alive, the output pipe would stay open and the calls above would wait for it.
  assert.ok(performance.now() - started < 60_000);
});
