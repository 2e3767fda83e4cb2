/** When a rollout ends, by the operator's own plan in virtual time, from what the dashboard has read anyway. Pure. */
import { label, type NodeSet } from '@slurm-operator/api';
import type { RolloutPlan } from '@slurm-operator/dashboard';
import {
  configMaps,
  controllerRevisions,
  type Live,
  nodes,
  type Pod,
  persistentVolumeClaims,
  pods,
} from '@slurm-operator/kube';
import { expandHostlist, type SlurmNode } from '@slurm-operator/slurm';
import { clusters, controllers, nodeSets } from '../cache/resources.ts';
import { type ForecastJob, forecast, observeNodeSet, type ReadObjects } from '../dry-run.ts';

export interface PlannedJob {
  readonly key: string;
  readonly user: string;
  readonly partition: string;
  /** Hostlist. */
  readonly nodes: string;
  readonly startedAt: number;
  /** Minutes; -1 for no limit. */
  readonly timeLimit: number;
  readonly suspended: boolean;
}

export interface RolloutPlanOptions {
  readonly nodeSet: Live<NodeSet>;
  /** Of the namespace, from the cache. */
  readonly list: (plural: string) => readonly Live[];
  readonly slurmNodes: readonly SlurmNode[];
  /** Those that hold nodes. */
  readonly jobs: readonly PlannedJob[];
  readonly now: number;
}

/** The simulation of more workers takes seconds, in which the page would wait. */
const mostWorkers = 400;
/** Where no pod tells: what a small image takes on a node that has it. */
const assumed = { start: 30_000, termination: 10_000 };
const plurals = [
  nodeSets,
  controllers,
  clusters,
  pods,
  nodes,
  controllerRevisions,
  configMaps,
  persistentVolumeClaims,
].map(({ plural }) => plural);

/** `undefined` where there is nothing to do, or too much to simulate. */
export function planRollout({
  nodeSet,
  list,
  slurmNodes,
  jobs,
  now,
}: RolloutPlanOptions): RolloutPlan | undefined {
  const objects: ReadObjects = Object.fromEntries(plurals.map((plural) => [plural, list(plural)]));
  const held = jobs.map((job) => forecastJob(job));
  const deadlines = new Map<string, number | 'infinite'>();
  for (const { nodes: names, deadline } of held)
    for (const name of names) {
      const known = deadlines.get(name) ?? 0;
      if (known === 'infinite') continue;
      deadlines.set(name, Number.isFinite(deadline) ? Math.max(known, deadline) : 'infinite');
    }
  const observed = observeNodeSet({
    nodeSet: nodeSet as NodeSet, // which the plan only reads
    objects,
    slurm: {
      kind: 'known',
      at: now,
      nodes: slurmNodes,
      deadlines,
      jobsUnknown: undefined,
      jobsAfterNodes: true,
      controllerStartedAt: 0,
    },
    now,
  });
  if (observed.workers.length > mostWorkers) return undefined;
  const { created, replaced, removed, earliest, latest, lastJob, endless } = forecast({
    observed,
    jobs: held,
    durations: typicalTimes(objects['pods'] ?? [], nodeSet.metadata.uid),
    now,
  });
  if (created.length + replaced.length + removed.length === 0) return undefined;
  return {
    create: created.length,
    replace: replaced.length,
    remove: removed.length,
    earliestAt: earliest.endsAt,
    latestAt: latest.endsAt,
    withheld: latest.withheld,
    lowestAvailable: latest.lowestAvailable,
    lastJob: lastJob && { id: String(lastJob.id), user: lastJob.user, nodes: lastJob.nodes.slice(0, 20) },
    endless: endless.map(({ id, user }) => ({ id: String(id), user })),
  };
}

function forecastJob({
  key,
  user,
  partition,
  nodes: hostlist,
  startedAt,
  timeLimit,
  suspended,
}: PlannedJob): ForecastJob {
  return {
    id: Number.parseInt(key, 10),
    user,
    partition,
    nodes: expandHostlist(hostlist),
    startedAt,
    deadline: timeLimit > 0 ? startedAt + timeLimit * 60_000 : Number.POSITIVE_INFINITY,
    suspended,
  };
}

/** Median time from creation to readiness of the pods of the set that run. */
function typicalTimes(all: readonly Live[], owner: string) {
  const starts = (all as readonly Live<Pod>[])
    .filter(
      ({ metadata }) =>
        metadata.ownerReferences?.some(({ uid }) => uid === owner) === true &&
        metadata.labels?.[label.podHostname] !== undefined,
    )
    .flatMap(({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type, status: is }) => type === 'Ready' && is === 'True');
      const took = Date.parse(ready?.lastTransitionTime ?? '') - Date.parse(metadata.creationTimestamp ?? '');
      return took >= 0 && took < 3_600_000 ? [took] : [];
    })
    .toSorted((a, b) => a - b);
  return { ...assumed, start: starts[Math.floor(starts.length / 2)] ?? assumed.start };
}
