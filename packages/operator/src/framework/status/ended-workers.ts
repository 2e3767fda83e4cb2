/** Workers whose slurmd ended after a change of configuration, in words for Controller and NodeSet. */
import { app, type Controller, conditionType, label } from '@slurm-operator/api';
import { type Cache, type Live, type ObjectRef, type Pod, type Predicate, pods } from '@slurm-operator/kube';
import type { Read } from '../../objects/read.ts';
import type { Problem } from './conditions.ts';

/** Reconfigured workers end at once; later ends have another cause. */
const windowAfter = 5 * 60_000;
/** Clocks of nodes and of the API server differ. */
const tolerance = 2_000;

export interface EndedWorker {
  readonly name: string;
  /** What slurmd said last. */
  readonly line: string;
}

/**
 * Workers that were there before `changedAt`, stopped being ready soon after it, and whose slurmd has ended with an error; in the order of
 * their names, because the first one is quoted and caches have no order.
 */
export function endedAfter(changedAt: number, workers: readonly Read<Pod>[]): EndedWorker[] {
  const ended = workers.flatMap(({ metadata, status }): EndedWorker[] => {
    const slurmd = status?.containerStatuses?.find(({ name }) => name === app.worker);
    const end = slurmd?.state?.terminated ?? slurmd?.lastState?.terminated;
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    const since = Date.parse(ready?.lastTransitionTime ?? '') - changedAt;
    const isOlder = Date.parse(metadata?.creationTimestamp ?? '') < changedAt;
    if (end === undefined || end.exitCode === 0 || ready?.status !== 'False' || !isOlder) return [];
    if (!(since >= -tolerance && since <= windowAfter)) return [];
    return [{ name: metadata?.name ?? '', line: lastLine(end.message) ?? `exit code ${end.exitCode}` }];
  });
  return ended.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

/** The last fatal line, or the last one; without the time that slurmd puts before it. */
function lastLine(log: string | undefined): string | undefined {
  const lines = (log ?? '').split('\n').filter((line) => line.trim() !== '');
  const line = lines.findLast((one) => one.includes('fatal')) ?? lines.at(-1);
  return line
    ?.replace(/^\[[^\]]*\] /, '')
    .trim()
    .slice(0, 300);
}

/** Undefined if there is no problem. `nodeSet`: only workers of this one. */
export function workersEnded(
  cache: Cache,
  { metadata, status }: Read<Controller>,
  nodeSet?: string,
): Problem | undefined {
  const { namespace, name } = metadata;
  const applied = status?.conditions?.find(({ type }) => type === conditionType.configApplied);
  const changedAt = Date.parse(applied?.status === 'True' ? applied.lastTransitionTime : '');
  if (Number.isNaN(changedAt)) return undefined;
  const workers = cache
    .list(pods, { namespace })
    .filter(
      ({ metadata: { labels } }: Live<Pod>) =>
        labels?.[label.name] === app.worker &&
        labels[label.cluster] === name &&
        (nodeSet === undefined || labels[label.instance] === nodeSet),
    );
  return describeEnded(endedAfter(changedAt, workers), { name, hash: status?.configHash ?? '', changedAt });
}

interface Change {
  readonly name: string;
  readonly hash: string;
  readonly changedAt: number;
}

export function describeEnded(
  ended: readonly EndedWorker[],
  { name, hash, changedAt }: Change,
): Problem | undefined {
  const [first] = ended;
  if (first === undefined) return undefined;
  const others = ended.length === 1 ? '' : ` and ${ended.length - 1} more`;
  const at = new Date(changedAt).toISOString();
  return {
    reason: 'WorkersEnded',
    message: `slurmd exited in ${first.name}${others} after configuration ${hash.slice(0, 12)} of Controller ${name} was applied at ${at}: "${first.line}". Revert the change in spec.extraConf or in a file that the Controller refers to; the workers then restart automatically.`,
    stillReady: true,
  };
}

/** The Controller of a worker. */
export function controllerOfWorker({ metadata: { labels, namespace } }: Live<Pod>): ObjectRef[] {
  const name = labels?.[label.name] === app.worker ? labels[label.cluster] : undefined;
  return name === undefined ? [] : [{ namespace, name }];
}

/** A slurmd has ended, or one that had is ready again: everything else about thousands of workers passes by. */
export const workerEndedOrRecovered: Predicate<Pod> = (change) => {
  if (change.type !== 'updated') return false;
  const [now, then] = [endOf(change.object), endOf(change.previous)];
  return now.at !== then.at || (now.at !== undefined && now.ready !== then.ready);
};

function endOf({ status }: Live<Pod>): { readonly at: string | undefined; readonly ready: boolean } {
  const slurmd = status?.containerStatuses?.find(({ name }) => name === app.worker);
  const end = slurmd?.state?.terminated ?? slurmd?.lastState?.terminated;
  return {
    at: end?.finishedAt,
    ready: status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
  };
}
