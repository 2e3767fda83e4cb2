/**
 * A world that waits for the operator: machines, claims and Slurm take one step whenever the operator has seen everything and has
 * nothing left to do. Then how often it writes depends on nothing but itself, and a crash can be put behind every single write.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Client,
  controllerRevisions,
  type Manager,
  nodes,
  type Pod,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type Resource,
  services,
} from '@slurm-operator/kube';
import { controllers, nodeSets } from '../src/cache/resources.ts';
import { shellUnquoted } from '../src/kinds/nodeset/objects/worker-template.ts';
import { bindPod, endPod, reportRunning } from './fake-kubelet.ts';
import type { PatientClock } from './patient-clock.ts';
import type { StagedSlurm } from './staged-slurm.ts';

export interface World {
  readonly client: Client;
  readonly slurm: StagedSlurm;
  readonly namespace: string;
  readonly clock: PatientClock;
}

/** The operator looks again after a second at what it has changed in Slurm. */
const soon = 2_000;

/** More steps than any of the scenarios takes. */
const mostSteps = 300;
const patience = 180_000;

// oxlint-disable-next-line typescript/no-explicit-any -- kinds of every type
const watched: readonly Resource<any>[] = [
  nodeSets,
  controllers,
  pods,
  persistentVolumeClaims,
  controllerRevisions,
  services,
  podDisruptionBudgets,
  nodes,
];

/** Goes on until there is nothing left to do for anybody, or until `over` says that the operator is dead. */
export async function runInLockstep(
  world: World,
  manager: Manager,
  over: () => boolean,
): Promise<'rest' | 'dead'> {
  let waited = false;
  for (let step = 0; step < mostSteps; step += 1) {
    await untilIdle(world, manager, over);
    if (over()) return 'dead';
    const moved =
      (await stepOfKubelet(world)) || (await stepOfClaims(world)) || (await world.slurm.pollByHand());
    if (!moved && waited) return 'rest';
    // Nothing is left to do: let the time pass that the operator wanted to wait.
    if (!moved) world.clock.pass(soon);
    waited = !moved;
  }
  throw new Error(`no rest after ${mostSteps} steps`);
}

async function untilIdle(world: World, manager: Manager, over: () => boolean): Promise<void> {
  const deadline = Date.now() + patience;
  for (;;) {
    await delay(1);
    if (over()) return;
    if ((await isIdle(manager)) && (await hasSeenAll(world, manager)) && (await isIdle(manager))) return;
    if (Date.now() > deadline) throw new Error(`the operator is still busy after ${patience} ms`);
  }
}

async function isIdle({ metrics: { registry } }: Manager): Promise<boolean> {
  const value = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values ?? [];
  const all = [...(await value('workqueue_depth')), ...(await value('controller_runtime_active_workers'))];
  return all.every((each) => each.value === 0);
}

/** Its cache shows what the server has: no event is on its way. */
async function hasSeenAll({ client }: World, { cache }: Manager): Promise<boolean> {
  for (const resource of watched) {
    const versions = (
      items: readonly { readonly metadata: { readonly uid: string; readonly resourceVersion: string } }[],
    ) =>
      items
        .map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
        .toSorted()
        .join();
    const { items } = await client.list(resource);
    if (versions(items) !== versions(cache.list(resource))) return false;
  }
  return true;
}

/**
 * The first pod by name that a scheduler or kubelet would do something about. Each step is one write, and Slurm, which the operator
 * does not look at meanwhile, is brought up to it before: were it two, what the operator saw between them would be chance.
 */
async function stepOfKubelet({ client, slurm, namespace }: World): Promise<boolean> {
  const { items } = await client.list(pods, { namespace });
  const next = (items as unknown as Pod[])
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .find((pod) => pod.metadata.deletionTimestamp !== undefined || pod.status?.phase !== 'Running');
  if (next === undefined) return false;
  const name = next.spec?.hostname ?? '';
  if (next.metadata.deletionTimestamp !== undefined) {
    await slurm.workerEnds(name);
    await endPod(client, next);
  } else if (next.spec?.nodeName === undefined) await bindPod(client, next);
  else {
    const at = await slurm.workerStarts({ name, instanceId: next.metadata.uid ?? '', conf: confOf(next) });
    await reportRunning(client, next, at);
  }
  return true;
}

export function confOf(pod: Pod): string {
  const { args = [] } = pod.spec?.containers.find((container) => container.args?.includes('--conf')) ?? {};
  return shellUnquoted(args[args.indexOf('--conf') + 1] ?? '');
}

/** A claim that is to go goes, once no pod has it any more. */
async function stepOfClaims({ client, namespace }: World): Promise<boolean> {
  const { items } = await client.list(persistentVolumeClaims, { namespace });
  const next = items.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (next === undefined) return false;
  await client.mergePatch(persistentVolumeClaims, next.metadata, { metadata: { finalizers: null } });
  return true;
}
