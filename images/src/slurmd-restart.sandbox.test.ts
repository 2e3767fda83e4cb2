/** A slurmd that crashes beside running steps is restarted in its container: the steps would end with the container. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Box, createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { controllerAddress, dynamicWorker, SlurmBoxes } from '../testing/slurm-boxes.ts';
import { slurmVersions } from './slurm-version.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

const patience = { timeoutMs: 180_000 };

/** As the operator starts slurmd for each: with `-b`, slurmctld ends the job unless ReturnToService is 2. */
const settings = [
  { name: 'ReturnToService=2', conf: '', options: dynamicWorker },
  {
    name: 'ReturnToService=0',
    conf: 'ReturnToService=0\n',
    options: `-Z --conf-server '${controllerAddress}:6817'`,
  },
];

for (const [version, { name, conf, options }] of slurmVersions.flatMap((one) =>
  settings.map((setting) => [one, setting] as const),
))
  test(`Slurm ${version}, ${name}: a job outlives its slurmd; without a job the container ends with slurmd`, async () => {
    const sandbox = await createSandbox({
      name: `restart-${version.replace('.', '-')}-${name.at(-1)}-${process.pid}`,
    });
    sandboxes.push(sandbox);
    const boxes = new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
    const ctld = await boxes.controller(conf);
    const worker = await boxes.worker('worker-0', ctld, { env: { SLURMD_OPTIONS: options } });
    const slurmd = async () =>
      (await worker.exec(['pgrep', '--exact', 'slurmd'], { allowFailure: true })).stdout.trim();
    const state = async (job: string) =>
      /JobState=(\w+)/.exec((await ctld.exec(['scontrol', '-o', 'show', 'job', job])).stdout)?.[1];
    const script = 'touch /tmp/runs; while [ -e /tmp/runs ]; do sleep 0.2; done';
    const submit = ['sbatch', '--parsable', '--no-requeue', '--chdir=/tmp', '--mem=100', '--wrap', script];
    const job = (await ctld.exec(submit)).stdout.trim();
    await ctld.waitFor('the job to run', () => exists(worker, '/tmp/runs'), patience);
    // slurmctld counts in whole seconds: the next slurmd must be younger than its last answer.
    const startedAt = Date.now();
    await ctld.waitFor('two seconds of the clock', () => Date.now() - startedAt > 2000, patience);

    const first = await slurmd();
    await worker.exec(['kill', '-KILL', first]);
    await worker.waitFor('another slurmd', async () => !['', first].includes(await slurmd()), patience);
    await worker.waitForPort(6818);
    await worker.exec(['rm', '/tmp/runs']);
    await ctld.waitFor('the job to end', async () => (await state(job)) !== 'RUNNING', patience);
    await ctld.waitFor('the job to be over', async () => (await state(job)) !== 'COMPLETING', patience);
    assert.equal(await state(job), 'COMPLETED');

    await worker.waitFor(
      'the last step to end',
      async () =>
        (await worker.exec(['pgrep', '--full', '^slurmstepd: \\['], { allowFailure: true })).exitCode === 1,
      patience,
    );
    await worker.exec(['kill', '-KILL', await slurmd()]);
    const { code } = await worker.exit;
    assert.equal(code, 137, 'the kubelet sees that slurmd was killed');
  });

const exists = async (box: Box, path: string) =>
  (await box.exec(['test', '-e', path], { allowFailure: true })).exitCode === 0;
