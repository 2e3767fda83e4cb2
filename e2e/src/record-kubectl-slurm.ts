/**
 * A terminal session with `kubectl slurm` on a running demo, with real daemons behind it: status, doctor with five faults, plan of a rollout
 * with three jobs and its real end, and diff of a partition limit. Returns the session as text.
 */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { apiVersion } from '@slurm-operator/api';
import { type Client, secrets } from '@slurm-operator/kube';
import { controllers, loginSets, nodeSets } from '@slurm-operator/operator';
import { runCommand } from '@slurm-operator/sandbox';
import { until } from './until.ts';
import { withPodSpec } from './with-pod-spec.ts';

const namespace = 'slurm-demo';

export interface RecordOptions {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly directory: string;
  /** The file of `kubectl slurm`. */
  readonly plugin: string;
}

export async function recordKubectlSlurm(options: RecordOptions): Promise<string> {
  const lines: string[] = [];
  try {
    await record(options, lines);
  } catch (error) {
    // What was seen so far says more than the error.
    console.log(lines.join('\n'));
    throw error;
  }
  // The directory of this run says nothing to a reader.
  return `${lines.join('\n').replaceAll(`${options.directory}/`, '').trim()}\n`;
}

async function record(
  { client, kubeconfig, directory, plugin }: RecordOptions,
  lines: string[],
): Promise<void> {
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
    until(what, async () => pattern.test((await quietly(...words)).stdout), {
      seen: async () => (await quietly(...words)).stdout,
    });

  note('A healthy cluster.');
  await waitFor('a healthy cluster', /✔ Ready/, 'status');
  await show('status');

  note('Three jobs run on three workers; two of these are to be replaced.');
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

  const [trialController] = (await client.list(controllers, { namespace })).items;
  const { spec: wanted, metadata: at } = trialController ?? assert.fail('no Controller');
  const configured = async (name: string, line: string) => {
    const path = join(directory, name);
    const spec = { ...wanted, extraConf: `${wanted.extraConf ?? ''}\n${line}\n` };
    await writeFile(
      path,
      JSON.stringify({ apiVersion, kind: 'Controller', metadata: { name: at.name }, spec }),
    );
    return path;
  };
  note('A configuration is tried before it is applied: one that slurmctld accepts, and one that it rejects.');
  assert.match(
    await show('diff', '-f', await configured('good.json', 'KillWait=45'), '--try'),
    /✔ tried: slurmctld .* accepts it/,
  );
  assert.match(
    await show('diff', '-f', await configured('bad.json', 'SelectType=select/none_such'), '--try'),
    /✖ tried: slurmctld .* rejects it/,
  );

  note(
    'Five faults at once: a drain, an image that does not exist, a worker that no node can take, a configuration that slurmctld rejects, a job that never starts.',
  );
  const never = await submit('never', '-p short -N 50 --time=5', 'true');
  await quietly('drain', 'short-0', '--reason', 'new disk');
  const [loginSet] = (await client.list(loginSets, { namespace })).items;
  const logins = loginSet?.metadata.name ?? '';
  const loginImage = loginSet?.spec.login?.image ?? null;
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
      template: withPodSpec(set.spec.template, { hostname: 'far-', nodeSelector: { 'no-such': 'label' } }),
    },
  } as never); // defaults that the type asks for are set by the server
  await client.mergePatch(
    controllers,
    { namespace, name: at.name },
    { spec: { extraConf: `${wanted.extraConf ?? ''}\nSelectType=select/none_such\n` } },
  );
  for (const rule of ['B7', 'D1', 'D4', 'E2', 'F3'])
    await waitFor(`${rule} is found`, new RegExp(`^[✖!·] ${rule} `, 'm'), 'doctor');
  await show('doctor');
  await show('status');
  const report = join(directory, 'report.json.gz');
  await show('doctor', '--report', report, '-o', 'name');
  const written = gunzipSync(await readFile(report)).toString('utf8');
  assert.doesNotMatch(written, /eyJ[\w-]{8,}\.|PRIVATE KEY/);
  for (const secret of await secretValues(client))
    assert.ok(!written.includes(secret), 'a secret is in the report');

  await quietly('resume', 'short-0');
  await client.delete(nodeSets, { namespace, name: 'unplaced' });
  await client.mergePatch(loginSets, { namespace, name: logins }, { spec: { login: { image: loginImage } } });
  await quietly('cancel', ...jobs, ...waiting, never);
  await client.mergePatch(
    controllers,
    { namespace, name: at.name },
    { spec: { extraConf: wanted.extraConf ?? '' } },
  );
}

/** Of every Secret: what a report must not contain. Short values would be found by chance. */
async function secretValues(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(secrets);
  return items
    .flatMap(({ data }) => Object.values(data ?? {}))
    .flatMap((value) => [value, Buffer.from(value, 'base64').toString('utf8')])
    .map((value) => value.trim())
    .filter((value) => value.length >= 16);
}
