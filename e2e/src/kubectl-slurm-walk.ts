/** What a person does with `kubectl slurm` on a running demo, with real daemons behind it. Leaves the demo as it found it. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from '@slurm-operator/sandbox';
import { until } from './until.ts';

const bundler = fileURLToPath(new URL('../../packages/cli/src/bundle-main.ts', import.meta.url));

/** `directory`: where the plugin and scripts may be written. */
export async function walkKubectlSlurm(kubeconfig: string, directory: string): Promise<void> {
  const plugin = join(directory, 'kubectl-slurm');
  await runCommand([process.execPath, bundler, plugin]);
  const slurm = (...words: readonly string[]): Promise<CommandResult> =>
    runCommand([process.execPath, plugin, '-n', 'slurm-demo', ...words], {
      env: { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1' },
      allowFailure: true,
      timeoutMs: 300_000,
    });
  const good = async (...words: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await slurm(...words);
    assert.equal(exitCode, 0, `kubectl slurm ${words.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  const finds = (rule: string, ...words: readonly string[]): Promise<string> =>
    until(`${rule} in kubectl slurm ${words.join(' ')}`, async () => {
      const { stdout, exitCode } = await slurm(...words);
      return (exitCode === 0 || exitCode === 1) && new RegExp(`^[✖!·↳ ]+${rule} `, 'm').test(stdout)
        ? stdout
        : undefined;
    });
  const submit = async (name: string, options: string, script: string): Promise<string> => {
    const file = join(directory, `${name}.sh`);
    await writeFile(file, `#!/bin/sh\n#SBATCH --job-name=${name} -p short ${options}\n${script}\n`);
    return (await good('submit', file, '--slurm-user', 'root', '-o', 'name')).trim().replace('job/', '');
  };

  assert.match(await good('status'), /slurm · Slurm \d+\.\d+.*✔ Ready[\s\S]*NodeSet +✔ Ready/);
  assert.match(await good('nodes'), /^NODE[\s\S]*^short-0 +idle/m);
  assert.match(await good('exec', 'short-0', '--', 'hostname'), /^short-0\n$/);
  assert.match(await good('scontrol', 'show', 'partition', 'short'), /PartitionName=short/);
  assert.match(await good('logs', 'slurmctld', '--tail', '5'), /\n/);

  // Reasons that only a real scheduler gives.
  const tooLong = await submit('too-long', '--time=5:00:00', 'true');
  assert.match(
    await finds('F7', 'doctor', `job/${tooLong}`),
    /time limit is 05:00:00, partition short allows 01:00:00/,
  );
  const tooWide = await submit('too-wide', '-N 50 --time=5', 'true');
  assert.match(await finds('F3', 'doctor', `job/${tooWide}`), /asks for 50 nodes .* cannot start/s);
  const holder = await submit('holder', '--time=20', 'sleep 600');
  await good('hold', tooLong);
  assert.match(await finds('F13', 'doctor', `job/${tooLong}`), /holds it/);
  const dependent = await submit('dependent', `--time=5 --dependency=afterok:${holder}`, 'true');
  assert.match(
    await finds('F11', 'doctor', `job/${dependent}`),
    new RegExp(`waits for ${holder} \\(RUNNING, ends by`),
  );
  assert.match(await good('jobs'), new RegExp(`^${holder} +holder +root +short +RUNNING`, 'm'));
  assert.match(await good('logs', '--job', holder), new RegExp(`JobId=${holder}\\b`));

  // A drain by a person, from the plugin to Slurm and back.
  assert.match(await good('drain', 'short-0', '--reason', 'new disk'), /node\/short-0 drain(ed|ing)/);
  assert.match(await finds('E2', 'doctor', 'node/short-0'), /drained by \S+, .* ago: "new disk"/);
  await good('resume', 'short-0', '--wait', '--timeout', '120');
  await good('cancel', holder, tooLong, tooWide, dependent);
}
