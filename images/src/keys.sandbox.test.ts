/** What a live daemon reads again when its key changes: docs/key-rotation.md stands on this. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { type Box, createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { controllerAddress, SlurmBoxes } from '../testing/slurm-boxes.ts';
import { slurmVersions } from './slurm-version.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

/** As a kubelet would: another file under the same name. */
async function replaceKey(box: Box, content: string): Promise<void> {
  const script =
    'umask 077; printf %s "$1" >/etc/slurm/.new && chown 401:401 /etc/slurm/.new && mv /etc/slurm/.new /etc/slurm/slurm.key';
  await box.exec(['/bin/sh', '-c', script, 'sh', content]);
}

for (const version of slurmVersions)
  test(`Slurm ${version}: a new slurm.key without a restart of slurmd and sackd, and jobs that run meanwhile complete`, async () => {
    const sandbox = await createSandbox({ name: `keys-${version.replace('.', '-')}-${process.pid}` });
    sandboxes.push(sandbox);
    const boxes = new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
    const ctld = await boxes.controller();
    const worker = await boxes.worker('worker-0', ctld);
    const login = await boxes.run('login', 'login', {
      env: { SACKD_OPTIONS: `--conf-server ${controllerAddress}:6817` },
      files: [boxes.key()],
    });
    const within = async (seconds: number, box: Box, command: readonly string[]) => {
      const limited = ['timeout', String(seconds), ...command];
      const { exitCode, stdout } = await box.exec(limited, { allowFailure: true, timeoutMs: 180_000 });
      return exitCode === 0 ? stdout.trim() : undefined;
    };
    const run = (box: Box, ...command: string[]) => within(90, box, command);
    /** Also of a command that is refused, which would wait for long. */
    const nodes = (box: Box) => within(15, box, ['sinfo', '--noheader', '--format=%n']);
    const patience = { timeoutMs: 300_000 };
    /** The oldest of them: a daemon forks for a moment now and then. */
    const pid = async (box: Box, daemon: string) =>
      Math.min(...((await run(box, 'pidof', daemon)) ?? '').split(' ').map(Number));
    await login.waitFor('the configuration', async () => (await nodes(login)) === 'worker-0');

    const job = await run(login, 'sbatch', '--parsable', '--chdir=/tmp', '--mem=100', '--wrap', 'sleep 25');
    const state = async () =>
      /JobState=(\w+)/.exec((await run(ctld, 'scontrol', '-o', 'show', 'job', job ?? '')) ?? '')?.[1];
    await ctld.waitFor('the job to run', async () => (await state()) === 'RUNNING');
    const before = [await pid(worker, 'slurmd'), await pid(login, 'sackd')];

    const key = randomBytes(64).toString('hex');
    for (const box of [ctld, login]) await replaceKey(box, key);
    await login.waitFor(
      'an answer, for a replaced file alone changes nothing',
      async () => (await nodes(login)) === 'worker-0',
      patience,
    );
    await run(ctld, 'scontrol', 'reconfigure');
    await login.waitFor('slurmctld to refuse the old key', async () => (await nodes(login)) === undefined);
    await run(login, 'sh', '-c', 'kill -HUP $(pidof sackd)');
    await login.waitFor('sackd on the new key', async () => (await nodes(login)) === 'worker-0');

    // The image of slurmd looks at its key itself.
    await replaceKey(worker, key);
    await worker.waitFor('slurmd to read it', () =>
      Promise.resolve(worker.logTail().includes('slurm.key changed')),
    );
    await ctld.waitFor(
      'a step on the worker',
      async () =>
        ((await run(ctld, 'srun', '--mem=100', '--overlap', 'hostname')) ?? '').includes('worker-0'),
      patience,
    );
    await ctld.waitFor('the job to complete', async () => (await state()) === 'COMPLETED', patience);
    assert.deepEqual([await pid(worker, 'slurmd'), await pid(login, 'sackd')], before, 'the same processes');
  });

for (const version of slurmVersions)
  test(`Slurm ${version}: a job that ends while only its worker has the new slurm.key is reported as complete`, async () => {
    const sandbox = await createSandbox({ name: `key-end-${version.replace('.', '-')}-${process.pid}` });
    sandboxes.push(sandbox);
    const boxes = new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
    const ctld = await boxes.controller();
    const worker = await boxes.worker('worker-0', ctld);
    const run = async (box: Box, ...command: string[]) => {
      const limited = ['timeout', '90', ...command];
      const { exitCode, stdout } = await box.exec(limited, { allowFailure: true, timeoutMs: 180_000 });
      return exitCode === 0 ? stdout.trim() : undefined;
    };
    await ctld.waitFor('the worker', async () => (await run(ctld, 'sinfo', '-ho%n')) === 'worker-0');
    // Ends when the test says so, and leaves a mark when it has.
    const script = 'until [ -e /tmp/end ]; do sleep 0.2; done; touch /tmp/ended';
    const job = await run(ctld, 'sbatch', '--parsable', '--chdir=/tmp', '--mem=100', '--wrap', script);
    const state = async () =>
      /JobState=(\w+)/.exec((await run(ctld, 'scontrol', '-o', 'show', 'job', job ?? '')) ?? '')?.[1];
    await ctld.waitFor('the job to run', async () => (await state()) === 'RUNNING');

    const key = randomBytes(64).toString('hex');
    await replaceKey(worker, key);
    await worker.waitFor('the worker to see the new key', () =>
      Promise.resolve(worker.logTail().includes('slurm.key changed')),
    );
    await run(worker, 'touch', '/tmp/end');
    const patience = { timeoutMs: 300_000 };
    await worker.waitFor(
      'the script to end',
      async () => (await run(worker, 'ls', '/tmp/ended')) !== undefined,
    );
    await ctld.waitFor('the job to complete', async () => (await state()) === 'COMPLETED', patience);

    await replaceKey(ctld, key);
    await run(ctld, 'scontrol', 'reconfigure');
    await ctld.waitFor(
      'a step on the worker, with the new key',
      async () => ((await run(ctld, 'srun', '--mem=100', 'hostname')) ?? '').includes('worker-0'),
      patience,
    );
  });

for (const version of slurmVersions)
  test(`Slurm ${version}: a slurmctld that comes back with the old slurm.key loses no end of a job`, async () => {
    const sandbox = await createSandbox({ name: `key-back-${version.replace('.', '-')}-${process.pid}` });
    sandboxes.push(sandbox);
    const boxes = new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
    const ctld = await boxes.controller();
    const worker = await boxes.worker('worker-0', ctld);
    const run = async (box: Box, ...command: string[]) => {
      const limited = ['timeout', '90', ...command];
      const { exitCode, stdout } = await box.exec(limited, { allowFailure: true, timeoutMs: 180_000 });
      return exitCode === 0 ? stdout.trim() : undefined;
    };
    await ctld.waitFor('the worker', async () => (await run(ctld, 'sinfo', '-ho%n')) === 'worker-0');
    const script = 'until [ -e /tmp/end ]; do sleep 0.2; done; touch /tmp/ended';
    const job = await run(ctld, 'sbatch', '--parsable', '--chdir=/tmp', '--mem=100', '--wrap', script);
    const state = async () =>
      /JobState=(\w+)/.exec((await run(ctld, 'scontrol', '-o', 'show', 'job', job ?? '')) ?? '')?.[1];
    await ctld.waitFor('the job to run', async () => (await state()) === 'RUNNING');

    // The container of slurmctld starts again before its kubelet has brought the new file.
    await ctld.stop(10_000);
    const key = randomBytes(64).toString('hex');
    await replaceKey(worker, key);
    await worker.waitFor('the worker to see the new key', () =>
      Promise.resolve(worker.logTail().includes('slurm.key changed')),
    );
    await ctld.start();
    const patience = { timeoutMs: 300_000 };
    await ctld.waitFor('slurmctld', async () => (await state()) === 'RUNNING', patience);
    await run(worker, 'touch', '/tmp/end');
    await worker.waitFor(
      'the script to end',
      async () => (await run(worker, 'ls', '/tmp/ended')) !== undefined,
    );
    await ctld.waitFor('the job to complete', async () => (await state()) === 'COMPLETED', {
      timeoutMs: 60_000,
    });

    await replaceKey(ctld, key);
    await run(ctld, 'scontrol', 'reconfigure');
    await ctld.waitFor(
      'a step on the worker, with the new key',
      async () => ((await run(ctld, 'srun', '--mem=100', 'hostname')) ?? '').includes('worker-0'),
      patience,
    );
  });
