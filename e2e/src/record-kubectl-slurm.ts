/**
 * A terminal session with `kubectl slurm` on a running demo, with real daemons behind it: status, doctor with five faults, plan of a rollout
 * with three jobs and its real end, diff of a partition limit, and the token exchange. Returns the session as text.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiVersion } from '@slurm-operator/api';
import type { Client } from '@slurm-operator/kube';
import { controllers, loginSets, nodeSets } from '@slurm-operator/operator';
import { runCommand } from '@slurm-operator/sandbox';
import { until } from './until.ts';

const bundler = fileURLToPath(new URL('../../packages/cli/src/bundle-main.ts', import.meta.url));
const namespace = 'slurm-demo';

export interface RecordOptions {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly directory: string;
}

export async function recordKubectlSlurm({ client, kubeconfig, directory }: RecordOptions): Promise<string> {
  const plugin = join(directory, 'kubectl-slurm');
  await runCommand([process.execPath, bundler, plugin]);
  const lines: string[] = [];
  const note = (text: string) => lines.push('', `# ${text}`);
  const quietly = (...words: readonly string[]) =>
    runCommand([process.execPath, plugin, '-n', namespace, ...words], {
      env: { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1', COLUMNS: '120' },
      allowFailure: true,
      timeoutMs: 600_000,
    });
  const show = async (...words: readonly string[]): Promise<string> => {
    const { stdout, stderr, exitCode } = await quietly(...words);
    lines.push(
      `$ kubectl slurm ${words.join(' ')}`,
      `${stdout}${stderr}`.trimEnd(),
      `(exit code ${exitCode})`,
    );
    return stdout;
  };
  const submit = async (name: string, options: string, script: string): Promise<string> => {
    const file = join(directory, `${name}.sh`);
    await writeFile(file, `#!/bin/sh\n#SBATCH --job-name=${name} ${options}\n${script}\n`);
    const { stdout, stderr } = await quietly('submit', file, '--slurm-user', 'root', '-o', 'name');
    assert.match(stdout, /^job\/\d+/, stderr);
    return stdout.trim().replace('job/', '');
  };
  const waitFor = (what: string, pattern: RegExp, ...words: readonly string[]) =>
    until(what, async () => pattern.test((await quietly(...words)).stdout));

  note('A healthy cluster.');
  await waitFor('a healthy cluster', /✔ Ready/, 'status');
  await show('status');

  note('Three jobs run on three workers, and one asks for more than there is.');
  const jobs = [
    await submit('one', '-p short -w short-0 --time=2', 'sleep 45'),
    await submit('two', '-p short -w short-1 --time=3', 'sleep 170'),
    await submit('three', '-p long -w long-0 --time=10', 'sleep 500'),
  ];
  await until('three jobs run', async () => {
    const { stdout } = await quietly('jobs', '-o', 'json');
    const { items } = JSON.parse(stdout) as { items: { id: string; state: string }[] };
    return jobs.every((id) => items.some((job) => job.id === id && job.state === 'RUNNING'));
  });
  await show('jobs');
  const planned = await show('plan', 'nodeset/slurm-worker-short', '--restart');
  const { stdout: json } = await quietly('plan', 'nodeset/slurm-worker-short', '--restart', '-o', 'json');
  const [forecast] = (JSON.parse(json) as { items: { earliest: string; latest: string }[] }).items;
  assert.match(planned, /to replace/);
  const began = Date.now();
  await client.mergePatch(
    nodeSets,
    { namespace, name: 'slurm-worker-short' },
    { spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } } },
  );
  await show('rollout', 'status', 'nodeset/slurm-worker-short', '--timeout', '540');
  const ended = Date.now();
  const after = (time: number) => `${Math.round((time - began) / 1000)} s`;
  const [earliest, latest] = [Date.parse(forecast?.earliest ?? ''), Date.parse(forecast?.latest ?? '')];
  lines.push(
    `# The rollout ended ${after(ended)} after it began. The plan said: ${after(earliest)} at the earliest, ${after(latest)} at the latest.`,
  );
  assert.ok(ended >= earliest - 5_000, 'the rollout cannot end before the earliest end');

  note('A lower limit of a partition, with jobs that ask for more.');
  const waiting = [
    await submit('wide', '-p long -N 1 -H --time=2:00:00', 'true'),
    await submit('long', '-p long -N 1 -H --time=3:00:00', 'true'),
  ];
  await until('they wait', async () => {
    const { items } = JSON.parse((await quietly('jobs', '-o', 'json')).stdout) as {
      items: { id: string; state: string }[];
    };
    return waiting.every((id) => items.some((job) => job.id === id && job.state === 'PENDING'));
  });
  const set = await client.get(nodeSets, { namespace, name: 'slurm-worker-long' });
  const file = join(directory, 'long.json');
  await writeFile(
    file,
    JSON.stringify({
      apiVersion,
      kind: 'NodeSet',
      metadata: { name: 'slurm-worker-long' },
      spec: {
        ...set.spec,
        partition: { ...set.spec.partition, config: 'MaxTime=60 State=UP' },
      },
    }),
  );
  await show('diff', '-f', file);

  note(
    'Five faults at once: a drain, an image that does not exist, a worker without a node, a wrong key, a job that never starts.',
  );
  await submit('never', '-p short -N 50 --time=5', 'true');
  await quietly('drain', 'short-0', '--reason', 'new disk');
  const logins = (await client.list(loginSets, { namespace })).items[0]?.metadata.name ?? '';
  await client.mergePatch(
    loginSets,
    { namespace, name: logins },
    { spec: { login: { image: 'no-such-image:1' } } },
  );
  await client.create(nodeSets, {
    apiVersion,
    kind: 'NodeSet',
    metadata: { name: 'unplaced', namespace },
    spec: {
      ...set.spec,
      replicas: 1,
      partition: { enabled: false },
      template: { ...set.spec.template, spec: { hostname: 'far-', nodeSelector: { 'no-such': 'label' } } },
    },
  } as never); // defaults that the type asks for are set by the server
  const [controller] = (await client.list(controllers, { namespace })).items;
  await client.mergePatch(
    controllers,
    { namespace, name: controller?.metadata.name ?? '' },
    { spec: { extraConf: `${controller?.spec.extraConf ?? ''}\nSelectType=select/none_such\n` } },
  );
  await waitFor('every fault is seen', /ConfigRejected|refuse|reject/i, 'doctor');
  await waitFor('the image is missed', /no-such-image/, 'doctor');
  await show('doctor');
  await show('status');
  return `${lines.join('\n').trim()}\n`;
}
