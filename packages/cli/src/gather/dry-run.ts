/** What `plan` and `diff` look at: the objects of the namespace, and Slurm where it can be asked. */
import { annotation, type Controller, label, type NodeSet, resourceName } from '@slurm-operator/api';
import {
  type Client,
  type ConfigMap,
  configMaps,
  controllerRevisions,
  ForbiddenError,
  type KubeObject,
  type Live,
  nodes,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  statefulSets,
} from '@slurm-operator/kube';
import type { Durations, ForecastJob, NodesView, ReadObjects } from '@slurm-operator/operator/dry-run';
import {
  type AccountingJob,
  expandHostlist,
  jobDeadline,
  nodeDeadlines,
  occupiesNodes,
  type SlurmJob,
  type SlurmNode,
  type SlurmPartition,
} from '@slurm-operator/slurm';
import { toExit } from '../errors.ts';
import { accountings, clusters, controllers, nodeSets } from '../session/resources.ts';
import type { Session } from '../session/session.ts';

export type SlurmLists =
  | {
      readonly kind: 'known';
      readonly at: number;
      readonly nodes: readonly SlurmNode[];
      readonly jobs: readonly SlurmJob[];
      readonly partitions: readonly SlurmPartition[];
      readonly startedAt: number | undefined;
      readonly release: string | undefined;
    }
  | { readonly kind: 'unknown'; readonly why: string };

/** Every kind is read once. What the user may not read counts as absent, and is named. */
export async function readObjects(
  session: Session,
  configFiles: (controllers: readonly Live<Controller>[]) => readonly string[] = () => [],
): Promise<{ readonly objects: ReadObjects; readonly forbidden: readonly string[] }> {
  const client = await session.client();
  const namespace = await session.namespace();
  const forbidden: string[] = [];
  const list = async <T extends KubeObject>(resource: Resource<T>, where: { namespace?: string }) => {
    try {
      const { items } = await client.list(resource, { ...where, signal: session.signal });
      return [resource.plural, items] as const;
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      forbidden.push(resource.plural);
      return [resource.plural, []] as const;
    }
  };
  const here = { namespace };
  const listedControllers = list(controllers, here);
  const found = await Promise.all([
    list(nodeSets, here),
    listedControllers,
    list(accountings, here),
    list(clusters, here),
    list(pods, here),
    list(persistentVolumeClaims, here),
    list(controllerRevisions, here),
    list(statefulSets, here),
    list(nodes, {}),
    listedControllers
      .then(([, items]) => configMapsOf(client, namespace, session, configFiles(items)))
      .then(
        (items) => ['configmaps', items] as const,
        (error: unknown) => {
          if (!(error instanceof ForbiddenError)) throw error;
          forbidden.push('configmaps');
          return ['configmaps', []] as const;
        },
      ),
  ]);
  return { objects: Object.fromEntries(found) as ReadObjects, forbidden };
}

/** Only the configuration of the cluster, and files that belong to it: other ConfigMaps may be large, and may hold what this command need not see. */
async function configMapsOf(
  client: Client,
  namespace: string,
  session: Session,
  others: readonly string[],
): Promise<readonly Live<ConfigMap>[]> {
  const { spec, metadata } = await session.cluster();
  const own = resourceName.config(spec.controllerRef?.name ?? metadata.name);
  const found = await Promise.all(
    [...new Set([own, ...others])].map((name) =>
      client.find(configMaps, { namespace, name }, { signal: session.signal }),
    ),
  );
  return found.filter((one) => one !== undefined);
}

export async function readSlurm(session: Session): Promise<SlurmLists> {
  const options = { signal: session.signal };
  const at = session.io.now();
  try {
    const slurm = await session.slurm();
    const [listed, jobs, partitions, diag] = await Promise.all([
      slurm.nodes.list(options),
      slurm.jobs.list(options),
      slurm.partitions.list(options),
      slurm.controller.diag(options),
    ]);
    return {
      kind: 'known',
      at,
      nodes: listed.items,
      jobs: jobs.items,
      partitions: partitions.items,
      startedAt: diag.startedAt,
      release: (await session.cluster()).status?.slurmVersion,
    };
  } catch (error) {
    if (session.signal.aborted) throw error;
    return { kind: 'unknown', why: toExit(error).message };
  }
}

/** What the plan sees of Slurm. Without Slurm it is what the operator last wrote on the worker pods. */
export function viewOf(slurm: SlurmLists, workers: readonly Live<Pod>[], now: number): NodesView {
  if (slurm.kind === 'unknown') return viewOfPods(workers, now);
  return {
    kind: 'known',
    at: slurm.at,
    nodes: slurm.nodes,
    deadlines: nodeDeadlines(slurm.jobs),
    jobsUnknown: undefined,
    jobsAfterNodes: true,
    controllerStartedAt: slurm.startedAt ?? 0,
  };
}

const statePrefix = 'SlurmNodeState';

function viewOfPods(workers: readonly Live<Pod>[], now: number): NodesView {
  const listed = workers.flatMap((pod) => nodeOfPod(pod) ?? []);
  const deadlines = new Map(
    workers.flatMap((pod) => {
      const deadline = deadlineOf(pod);
      return deadline === undefined ? [] : [[hostnameOf(pod), deadline] as const];
    }),
  );
  return {
    kind: 'known',
    at: now,
    nodes: listed,
    deadlines,
    jobsUnknown: undefined,
    jobsAfterNodes: true,
    controllerStartedAt: 0,
  };
}

const hostnameOf = (pod: Live<Pod>): string =>
  pod.metadata.labels?.[label.podHostname] ?? pod.spec?.hostname ?? pod.metadata.name;

function deadlineOf(pod: Live<Pod>): number | 'infinite' | undefined {
  const text = pod.metadata.annotations?.[annotation.podDeadline] ?? '';
  if (text === '') return undefined;
  return text.startsWith('9999-') ? 'infinite' : Date.parse(text);
}

function nodeOfPod(pod: Live<Pod>): SlurmNode | undefined {
  const told = (pod.status?.conditions ?? []).filter(
    ({ type, status }) => type.startsWith(statePrefix) && status === 'True',
  );
  if (told.length === 0) return undefined;
  const names = told.map(({ type }) =>
    type
      .slice(statePrefix.length)
      .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
      .toUpperCase(),
  );
  const base = ['ALLOCATED', 'MIXED', 'DOWN', 'IDLE'].find((name) => names.includes(name)) ?? 'UNKNOWN';
  return {
    name: hostnameOf(pod),
    state: { base, flags: new Set(names.filter((name) => name !== base)) },
    reason: told[0]?.message ?? '',
    comment: JSON.stringify({
      namespace: pod.metadata.namespace,
      nodeSetName: pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.name,
      nodeSetUID: pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid,
    }),
    features: [],
    topology: '',
    cpus: 0,
    memory: 0,
    gres: '',
    address: pod.status?.podIP ?? '',
    instanceId: pod.metadata.uid,
  } as unknown as SlurmNode; // what a plan reads of a node
}

/** Jobs that hold nodes; without Slurm one for every worker that the operator marked as busy. */
export function runningJobs(slurm: SlurmLists, workers: readonly Live<Pod>[]): readonly ForecastJob[] {
  if (slurm.kind === 'unknown')
    return workers.flatMap((pod) => {
      if (pod.metadata.labels?.[label.podProtect] !== 'true') return [];
      const deadline = deadlineOf(pod);
      return [
        {
          id: 0,
          user: '',
          partition: '',
          nodes: [hostnameOf(pod)],
          startedAt: undefined,
          deadline: typeof deadline === 'number' ? deadline : Number.POSITIVE_INFINITY,
          suspended: false,
        },
      ];
    });
  return slurm.jobs
    .filter(({ state }) => occupiesNodes(state))
    .map((job) => {
      const deadline = jobDeadline(job);
      return {
        id: job.id,
        user: job.user,
        partition: job.partition,
        nodes: expandHostlist(job.nodes),
        startedAt: job.startedAt,
        deadline: typeof deadline === 'number' ? deadline : Number.POSITIVE_INFINITY,
        suspended: job.state.includes('SUSPENDED'),
      };
    });
}

/** Where none of the pods tells: about what a small image on a node that has it takes. */
const assumed = { start: 30_000, termination: 10_000 };
/** Above this many workers, events of one minute happen together. */
const manyWorkers = 200;

export interface TypicalTimes extends Durations {
  /** How many pods the start was measured on; 0: assumed. */
  readonly starts: number;
}

/** Median time from creation to readiness of the pods that run; restarted containers say nothing about it. */
export function typicalTimes(workers: readonly Live<Pod>[]): TypicalTimes {
  const starts = workers
    .flatMap((pod) => {
      const ready = pod.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
      const restarted = pod.status?.containerStatuses?.some(({ restartCount }) => restartCount > 0) ?? false;
      const took =
        Date.parse(ready?.lastTransitionTime ?? '') - Date.parse(pod.metadata.creationTimestamp ?? '');
      return restarted || !(took >= 0) || took > 3_600_000 ? [] : [took];
    })
    .slice(-20)
    .toSorted((a, b) => a - b);
  return {
    start: starts[Math.floor(starts.length / 2)] ?? assumed.start,
    termination: assumed.termination,
    fastest: { start: starts[0] ?? 0, termination: 0 },
    starts: starts.length,
    ...(workers.length > manyWorkers ? { resolution: 60_000 } : {}),
  };
}

const month = 30 * 24 * 3_600_000;
const fewest = 20;
/** Accounting of a month may be large; a likely end is not worth more than this. */
const patienceMs = 3_000;

/** How much of their limits jobs used: of that user and partition, else of the partition; undefined below twenty jobs. */
export async function usedShares(session: Session) {
  let past: readonly AccountingJob[];
  try {
    const slurm = await session.slurm();
    const signal = AbortSignal.any([session.signal, AbortSignal.timeout(patienceMs)]);
    past = await slurm.accounting.jobs({ startedAfter: session.io.now() - month }, { signal });
  } catch {
    if (session.signal.aborted) throw session.signal.reason;
    return undefined;
  }
  const shares = (mine: readonly AccountingJob[]) => {
    const used = mine
      .flatMap(({ elapsedSeconds, timeLimit, endedAt }) =>
        typeof timeLimit === 'number' &&
        timeLimit > 0 &&
        endedAt !== undefined &&
        elapsedSeconds !== undefined
          ? [Math.min(1, elapsedSeconds / 60 / timeLimit)]
          : [],
      )
      .toSorted((a, b) => a - b);
    if (used.length < fewest) return undefined;
    return { share: used[Math.floor(used.length / 2)] ?? 1, jobs: used.length };
  };
  return ({ user, partition }: Pick<ForecastJob, 'user' | 'partition'>) =>
    shares(past.filter((job) => job.partition === partition && job.user === user)) ??
    shares(past.filter((job) => job.partition === partition));
}

export const workersOf = (objects: ReadObjects, set: Live<NodeSet>): readonly Live<Pod>[] =>
  ((objects['pods'] ?? []) as readonly Live<Pod>[]).filter(({ metadata }) =>
    metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid),
  );
