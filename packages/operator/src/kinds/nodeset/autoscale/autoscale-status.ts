/** `status.autoscale` of a NodeSet: slots by state, failures, the size of a sleeping node, and the last decision with its jobs. Pure. */
import type { NodeSet } from '@slurm-operator/api';
import { compressHostlist } from '@slurm-operator/slurm';
import type { WorkerAction } from '../model/actions.ts';
import type { Autoscale } from '../model/autoscale.ts';
import { type Observed, slurmNameOf } from '../model/observed.ts';
import type { AutoscaleSummary } from './power.ts';

type Status = NonNullable<NonNullable<NodeSet['status']>['autoscale']>;
type Decision = NonNullable<Status['last']>;

export interface StatusInput {
  readonly observed: Observed;
  readonly summary: AutoscaleSummary;
  /** Actions that were carried out. */
  readonly done: readonly WorkerAction[];
  readonly before: Status | undefined;
  readonly now: number;
}

export function autoscaleStatus({ observed, summary, done, before, now }: StatusInput): Status {
  const { visible, awake, waking, sleeping, stopping, cooling, history, nextTryAt, recordsToCreate } =
    summary;
  const last = lastDecision(observed, done, now) ?? before?.last;
  const shape = observed.autoscale && shapeOf(observed.autoscale);
  return {
    visible,
    awake,
    waking,
    sleeping,
    stopping,
    cooling,
    failures: history.failures,
    ...at('lastFailure', history.lastFailureAt),
    ...at('protectedSince', history.protectedSince),
    ...at('nextTry', nextTryAt),
    ...(recordsToCreate.length === 0
      ? {}
      : {
          recordsToCreate: `NodeName=${compressHostlist(recordsToCreate)} ${observed.autoscale?.shape} State=CLOUD`,
        }),
    ...(shape === undefined ? {} : { shape }),
    ...(last === undefined ? {} : { last }),
  };
}

const at = <K extends string>(key: K, time: number | undefined): Partial<Record<K, string>> =>
  time === undefined ? {} : ({ [key]: timeText(time) } as Partial<Record<K, string>>);

/** Whole seconds, as Kubernetes writes times. */
const timeText = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

function shapeOf({ shape, size, shapeSource }: Autoscale): Status['shape'] {
  if (shape === undefined) return undefined;
  const { cpus, memory, gpus } = size;
  return {
    source: shapeSource,
    ...(cpus === undefined ? {} : { cpus }),
    ...(memory === undefined ? {} : { memory }),
    ...(gpus === undefined ? {} : { gpus }),
  };
}

const mostJobs = 20;

function lastDecision(observed: Observed, done: readonly WorkerAction[], now: number): Decision | undefined {
  const decision = (
    did: string,
    nodes: readonly string[],
    jobs: readonly string[],
    why: string,
  ): Decision => ({
    at: timeText(now),
    did,
    nodes: compressHostlist(nodes),
    ...(jobs.length === 0 ? {} : { jobs: jobs.slice(0, mostJobs) }),
    why,
  });
  const failed = done.find((action) => action.kind === 'fail-wake');
  if (failed !== undefined)
    return decision(
      'GiveUp',
      failed.slurmNames,
      failed.jobs.map(({ id }) => id),
      failed.reason,
    );
  const woken = done.flatMap((action) =>
    action.kind === 'create-worker' ? (slurmNameOf(action.slot, observed) ?? []) : [],
  );
  if (woken.length > 0) {
    const names = new Set(woken);
    const jobs = observed.slurm.kind === 'known' ? (observed.slurm.jobs ?? []) : [];
    const own = jobs.filter(({ nodes }) => nodes.some((name) => names.has(name))).map(({ id }) => id);
    return decision(
      'Wake',
      woken,
      own,
      own.length > 0 ? 'allocated by Slurm' : 'powered up, or to be replaced',
    );
  }
  const stopped = done.flatMap((action) => (action.kind === 'power-down' ? action.slurmNames : []));
  return stopped.length === 0 ? undefined : decision('Sleep', stopped, [], 'idle');
}
