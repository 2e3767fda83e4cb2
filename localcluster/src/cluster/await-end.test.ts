import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { awaitEnd } from './await-end.ts';
import { startTimeOf } from './cluster-directory.ts';

test('the end of a process is waited for, and not that of another with its number', async () => {
  const child = spawn('sleep', ['60']);
  const pid = child.pid ?? 0;
  const startTime = await startTimeOf(pid);
  assert.equal(await awaitEnd({ pid, startTime }, 200), false, 'it runs');
  assert.equal(await awaitEnd({ pid, startTime: '1' }, 60_000), true, 'that one ended long ago');
  const ended = awaitEnd({ pid, startTime }, 60_000);
  child.kill('SIGKILL');
  assert.equal(await ended, true);
});
