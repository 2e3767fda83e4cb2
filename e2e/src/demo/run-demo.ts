/** The demo: a whole Slurm cluster from the charts, a job through ssh and one through REST, and a look around. */
import { randomBytes } from 'node:crypto';
import type { Helm } from '@slurm-operator/charts';
import { type Client, deployments, nodes, pods, secrets, sleep } from '@slurm-operator/kube';
import { installMariadb, installOperator, installSlurm } from '../helm/install.ts';
import { Kubectl } from '../helm/kubectl.ts';
import { LoginKey } from '../helm/login-session.ts';
import { untilAllReady } from '../helm/slurm-kinds.ts';
import { accountingRecords, inController, jobThroughRest, jobThroughSsh } from './demo-jobs.ts';
import { demoValues } from './demo-values.ts';
import { DemoRefusedError } from './errors.ts';
import { explainMissing, missingImages } from './missing-images.ts';
import { demoNamespace, demoOperatorNamespace, inRegistry, releases, restVersion } from './names.ts';

export interface DemoResult {
  readonly ready_seconds: number;
  readonly jobs_completed: number;
  readonly kinds_ready: number;
}

export interface DemoOptions {
  readonly client: Client;
  /** As the variable KUBECONFIG: one file, or several with colons between them. */
  readonly kubeconfig: string;
  readonly helm: Helm;
  /** In front of every image. @default none */
  readonly registry?: string;
  /** A step begins. */
  readonly step: (title: string) => void;
  /** Something happened, or a program spoke. */
  readonly say: (line: string) => void;
}

/** On ground that is taken already. Runs as often as one likes: what is there is brought back to what it should be. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { client, kubeconfig, helm, registry = '', step, say } = options;
  const began = performance.now();
  const kubectl = await Kubectl.open(kubeconfig);
  await using key = await LoginKey.make();
  const lookOut = () => refuseMissingImages(client);
  const show = (text: string) => {
    for (const line of text.trimEnd().split('\n')) say(line);
  };

  step('the charts: custom resources and the operator');
  for (const release of Object.values(releases)) await clearInterrupted(helm, release);
  await installOperator(helm, { registry }, { namespace: demoOperatorNamespace, wait: false });
  step('a database, and the chart slurm');
  await installMariadb(kubectl, demoNamespace, await databasePassword(client), (image) =>
    inRegistry(registry, image),
  );
  await untilDeployed(client, demoOperatorNamespace, lookOut);
  const values = demoValues({ publicKey: key.publicKey, registry, machines: await machines(client) });
  await installSlurm(helm, { release: releases.slurm.name, namespace: demoNamespace, values });
  const kinds = await untilAllReady(client, demoNamespace, {
    timeoutMs: 600_000,
    onReady: ({ kind, name }) => say(`${kind} ${name} is Ready`),
    lookOut,
  });
  const ready = (performance.now() - began) / 1000;

  step('a job through ssh');
  show(await jobThroughSsh(kubectl, key));
  step(`a job through REST ${restVersion}`);
  const { job, state } = await jobThroughRest(kubectl);
  say(`job ${job}: ${state}`);
  const completed = 1 + (state === 'COMPLETED' ? 1 : 0);
  for (const command of ['sinfo', 'squeue']) {
    step(command);
    show(await inController(kubectl, command));
  }
  step('sacct');
  show(await accountingRecords(kubectl, completed));
  step('kubectl get slurm');
  // kubectl remembers for hours which kinds a server has, and finds a category of new ones only when it looks anew.
  await kubectl.say('api-resources', '--api-group=slinky.slurm.net', '--cached=false');
  show(await kubectl.say('--namespace', demoNamespace, 'get', 'slurm'));
  return {
    ready_seconds: Number(ready.toFixed(1)),
    jobs_completed: completed,
    kinds_ready: new Set(kinds.map(({ kind }) => kind)).size,
  };
}

/** A run that was killed inside helm leaves a release that helm touches no more. */
async function clearInterrupted(
  helm: Helm,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<void> {
  const place = ['--namespace', namespace];
  const { stdout } = await helm.run(['list', '--pending', '--short', ...place]);
  if (stdout.split('\n').includes(name)) await helm.run(['uninstall', name, ...place]);
}

/** The one that the database was made with, if there is one already. */
async function databasePassword(client: Client): Promise<string> {
  const found = await client.find(secrets, { namespace: demoNamespace, name: 'mariadb-password' });
  const known = Buffer.from(found?.data?.['password'] ?? '', 'base64').toString('utf8');
  return known === '' ? randomBytes(12).toString('hex') : known;
}

/** How many machines take pods that ask for nothing special. */
async function machines(client: Client): Promise<number> {
  const { items } = await client.list(nodes);
  return items.filter(
    ({ spec }) =>
      spec?.unschedulable !== true &&
      spec?.taints?.some(({ effect }) => effect !== 'PreferNoSchedule') !== true,
  ).length;
}

/** Machines that have some of the images may still lack others. */
async function refuseMissingImages(client: Client): Promise<void> {
  for (const namespace of [demoOperatorNamespace, demoNamespace]) {
    const missing = (await client.list(pods, { namespace })).items
      .flatMap((pod) => missingImages(pod))
      .filter(({ why }) => why.startsWith('ImagePullBackOff') || why.startsWith('ErrImageNeverPull'));
    if (missing.length > 0) throw new DemoRefusedError(explainMissing(missing));
  }
}

async function untilDeployed(
  client: Client,
  namespace: string,
  lookOut: () => Promise<void>,
  timeoutMs = 300_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { items } = await client.list(deployments, { namespace });
    const waiting = items.filter(
      ({ metadata, spec, status }) =>
        status?.observedGeneration !== metadata.generation ||
        (status?.updatedReplicas ?? 0) < (spec?.replicas ?? 1) ||
        (status?.availableReplicas ?? 0) < (spec?.replicas ?? 1),
    );
    if (items.length > 0 && waiting.length === 0) return;
    await lookOut();
    if (performance.now() > deadline)
      throw new Error(
        `not available within ${timeoutMs / 1000} s: ${waiting.map(({ metadata }) => metadata.name).join(', ')}; see kubectl --namespace ${namespace} get pods`,
      );
    await sleep(300, AbortSignal.timeout(5_000));
  }
}
