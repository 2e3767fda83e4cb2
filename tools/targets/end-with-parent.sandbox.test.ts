/** When a make target or the test runner is killed, the processes that the tests started end too. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, test } from 'node:test';
import { cleanSandboxes, waitUntil } from '@slurm-operator/sandbox';

const name = `orphan-${process.pid}`;
const directory = mkdtempSync(join(tmpdir(), 'end-with-parent-'));
let runner: ChildProcess | undefined;
afterEach(async () => {
  runner?.kill('SIGKILL');
  await cleanSandboxes({ name });
});
after(() => rmSync(directory, { recursive: true }));

/** A test that never ends, with a daemon of root and one of an ordinary account (whose death is the harder one). */
const endless = `
import { test } from 'node:test';
import { createSandbox } from ${JSON.stringify(resolve('packages/sandbox/src/index.ts'))};
test('endless', async () => {
  const sandbox = await createSandbox({ name: ${JSON.stringify(name)} });
  const command = ['/bin/sleep', '86400'];
  const boxes = [
    await sandbox.startBox({ name: 'root', command }),
    await sandbox.startBox({ name: 'plain', command, user: '65534:65534' }),
  ];
  console.log('PIDS ' + JSON.stringify([process.pid, ...boxes.map((box) => box.pid)]));
  await new Promise(() => setInterval(() => {}, 1000));
});
`;

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function startRunner(): Promise<number[]> {
  const file = join(directory, 'endless.test.ts');
  writeFileSync(file, endless);
  const targets = import.meta.dirname;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  runner = spawn(
    process.execPath,
    [
      `--import=${join(targets, 'end-with-parent.ts')}`,
      '--test',
      '--test-isolation=process',
      `--test-reporter=${join(targets, 'tally-reporter.ts')}`,
      file,
    ],
    { env, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  for await (const line of createInterface({ input: runner.stdout ?? assert.fail() })) {
    if (line.startsWith('PIDS ')) return JSON.parse(line.slice(5)) as number[];
  }
  return assert.fail('the runner ended before its test had started');
}

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`after ${signal} of the test runner neither its test nor what that started is left`, async () => {
    const pids = await startRunner();
    assert.equal(pids.length, 3);
    assert.ok(pids.every(isAlive));
    runner?.kill(signal);
    await once(runner ?? assert.fail(), 'exit');
    await waitUntil('the test process and its daemons to end', () => !pids.some(isAlive), {
      timeoutMs: 90_000,
    });
  });
}
