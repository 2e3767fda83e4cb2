/** The demo: a whole Slurm cluster from the charts, a job through ssh and one through REST, and a look around. */
import { randomBytes } from 'node:crypto';
import type { Helm } from '@slurm-operator/charts';
import { type Client, nodes, secrets } from '@slurm-operator/kube';
import { accountingRecords, inController, jobThroughRest, jobThroughSsh } from './demo-jobs.ts';
import { operatorValues } from './demo-people.ts';
import { demoValues } from './demo-values.ts';
import { installMariadb, installOperator, installSlurm } from './install/install.ts';
import { Kubectl } from './install/kubectl.ts';
import { LoginKey } from './install/login-session.ts';
import { explainMissing, missingImages } from './missing-images.ts';
import {
  DemoRefusedError,
  demoNamespace,
  demoOperatorNamespace,
  inRegistry,
  releases,
  restVersion,
} from './names.ts';
import { awaitProgress, milestonesOf } from './waiting/await-progress.ts';
import { type Evidence, gatherEvidence, isEverythingReady } from './waiting/evidence.ts';
import { notReady } from './waiting/not-ready.ts';
import { lookFurther } from './waiting/wait-report.ts';

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
  /** Files of values that are laid over the demo's own for the chart slurm. */
  readonly valuesFiles?: readonly string[];
  /** How a person calls kubectl for this cluster. */
  readonly kubectlCommand: string;
  /** How long nothing may advance before it stops. @default ten minutes */
  readonly stallMs?: number;
  /** A step begins. */
  readonly step: (title: string) => void;
  /** Progress, or output of a program. */
  readonly say: (line: string) => void;
}

/** On ground that is taken already. Runs as often as one likes: what is there is brought back to what it should be. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const { client, kubeconfig, helm, registry = '', valuesFiles = [], step, say } = options;
  const began = performance.now();
  const kubectl = await Kubectl.open(kubeconfig);
  await using key = await LoginKey.make();
  const show = (text: string) => {
    for (const line of text.trimEnd().split('\n')) say(line);
  };

  step('the charts: custom resources and the operator');
  for (const release of Object.values(releases)) await clearInterrupted(helm, release);
  await installOperator(helm, operatorValues(registry), { namespace: demoOperatorNamespace, wait: false });
  step('a database, and the chart slurm');
  await installMariadb(kubectl, demoNamespace, await databasePassword(client), (image) =>
    inRegistry(registry, image),
  );
  await untilDone(options, [demoOperatorNamespace], isOperatorAvailable);
  const values = demoValues({ publicKey: key.publicKey, registry, machines: await machines(client) });
  await installSlurm(helm, { release: releases.slurm.name, namespace: demoNamespace, values, valuesFiles });
  const announced = new Set<string>();
  const { objects } = await untilDone(options, [demoOperatorNamespace, demoNamespace], (evidence) => {
    for (const { kind, name, isReady } of evidence.objects)
      if (isReady && !announced.has(`${kind} ${name}`)) {
        announced.add(`${kind} ${name}`);
        say(`${kind} ${name} is Ready`);
      }
    return isEverythingReady(evidence);
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
  // kubectl remembers for hours which kinds a server has, and finds a category of new ones only after it is refreshed.
  await kubectl.say('api-resources', '--api-group=slinky.slurm.net', '--cached=false');
  show(await kubectl.say('--namespace', demoNamespace, 'get', 'slurm'));
  return {
    ready_seconds: Number(ready.toFixed(1)),
    jobs_completed: completed,
    kinds_ready: new Set(objects.map(({ kind }) => kind)).size,
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

const isOperatorAvailable = ({ deployments }: Evidence): boolean =>
  deployments.length > 0 &&
  deployments.every(
    ({ metadata, spec, status }) =>
      status?.observedGeneration === metadata.generation &&
      (status?.updatedReplicas ?? 0) >= (spec?.replicas ?? 1) &&
      (status?.availableReplicas ?? 0) >= (spec?.replicas ?? 1),
  );

/** The evidence that it was done by; says all the while what is missing. */
async function untilDone(
  { client, say, kubectlCommand, stallMs }: DemoOptions,
  namespaces: readonly string[],
  isDone: (evidence: Evidence) => boolean,
): Promise<Evidence> {
  let evidence: Evidence | undefined;
  await awaitProgress({
    observe: async () => {
      evidence = await gatherEvidence(client, namespaces);
      refuseMissingImages(evidence);
      return { isDone: isDone(evidence), lines: notReady(evidence), milestones: milestonesOf(evidence) };
    },
    say,
    lookFurther: lookFurther(kubectlCommand),
    ...(stallMs === undefined ? {} : { stallMs }),
  });
  if (evidence === undefined) throw new Error('the cluster was not observed');
  return evidence;
}

/** Nodes that have some of the images may still lack others. */
function refuseMissingImages({ pods }: Evidence): void {
  const missing = pods
    .flatMap((pod) => missingImages(pod))
    .filter(({ why }) => why.startsWith('ImagePullBackOff') || why.startsWith('ErrImageNeverPull'));
  if (missing.length > 0) throw new DemoRefusedError(explainMissing(missing));
}
