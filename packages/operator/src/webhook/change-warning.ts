/** What an update of a NodeSet does to its workers, in one sentence for the person who applies it. Pure. */
import { annotation, label, type NodeSet } from '@slurm-operator/api';
import type { DeepReadonly, Pod } from '@slurm-operator/kube';
import { resolveMaxUnavailable } from '../kinds/nodeset/model/availability.ts';
import { revisionData } from '../kinds/nodeset/objects/revision.ts';

type Set = DeepReadonly<NodeSet>;

/** `workers`: unknown when they could not be read in time; then the sentence says only what the objects say. */
export function changeWarning(
  before: Set,
  after: Set,
  workers: readonly DeepReadonly<Pod>[] | undefined,
): string | undefined {
  if (after.spec.scalingMode !== before.spec.scalingMode) return undefined;
  const parts = [
    removal(before, after, workers),
    fewerNodes(before, after, workers),
    replacement(before, after, workers),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : `NodeSet ${after.metadata.name}: ${parts.join('; ')}.`;
}

/** The same for a change of the subresource `scale`, which shows only numbers. */
export function scaleWarning(
  name: string,
  from: number,
  to: number,
  workers: readonly DeepReadonly<Pod>[] | undefined,
  autoscale?: DeepReadonly<NodeSet>['spec']['autoscale'],
): string | undefined {
  if (autoscale !== undefined)
    return `NodeSet ${name}: replicas ${to} has no effect while spec.autoscale is set (min ${autoscale.min}, max ${autoscale.max}): set autoscale.min for workers that always run, autoscale.max for nodes that jobs may wake, or remove spec.autoscale first.`;
  return to < from ? `NodeSet ${name}: ${removalText(from, to, workers)}.` : undefined;
}

function removal(
  before: Set,
  after: Set,
  workers: readonly DeepReadonly<Pod>[] | undefined,
): string | undefined {
  const [from, to] = [before.spec.replicas ?? 1, after.spec.replicas ?? 1];
  if (after.spec.scalingMode === 'DaemonSet' || after.spec.autoscale !== undefined || to >= from)
    return undefined;
  return removalText(from, to, workers);
}

/** Nodes of an autoscaled NodeSet that Slurm shows no more. */
function fewerNodes(
  before: Set,
  after: Set,
  workers: readonly DeepReadonly<Pod>[] | undefined,
): string | undefined {
  const [from, to] = [before.spec.autoscale?.max, after.spec.autoscale?.max];
  if (from === undefined || to === undefined || to >= from) return undefined;
  return `autoscale.max ${from} → ${to} removes ${from - to} Slurm nodes, those with jobs once these have ended${work(workers)}`;
}

const removalText = (from: number, to: number, workers: readonly DeepReadonly<Pod>[] | undefined): string =>
  `replicas ${from} → ${to} removes ${count(from - to)} once their jobs have ended${work(workers)}`;

function replacement(
  before: Set,
  after: Set,
  workers: readonly DeepReadonly<Pod>[] | undefined,
): string | undefined {
  if (revisionData(before as NodeSet) === revisionData(after as NodeSet)) return undefined;
  const total = workers?.length ?? before.status?.replicas ?? 0;
  const isCounted = after.spec.scalingMode !== 'DaemonSet' && after.spec.autoscale === undefined;
  const kept = isCounted ? Math.min(total, after.spec.replicas ?? 1) : total;
  if (kept === 0) return undefined;
  const strategy = after.spec.updateStrategy;
  const rolling = strategy?.rollingUpdate;
  if (strategy?.type === 'OnDelete')
    return `${count(kept)} keep the old revision until you delete them (updateStrategy OnDelete)`;
  if (rolling?.paused) return `${count(kept)} keep the old revision while the rollout is paused`;
  if (strategy?.type === 'ScheduledUpdate')
    return `${count(kept)} are replaced in the window that begins at ${strategy.scheduledUpdate?.startTime ?? 'its start time'}`;
  const partition = rolling?.partition ?? 0;
  const replaced = Math.max(0, kept - partition);
  if (replaced === 0) return undefined;
  const budget = resolveMaxUnavailable(rolling?.maxUnavailable ?? '25%', kept);
  return `this replaces ${replaced} of ${count(kept)}, ${budget} at a time, each once its jobs have ended${work(workers)}`;
}

/** How many workers have jobs, and by when the last must end, from what the operator wrote on the pods. */
function work(workers: readonly DeepReadonly<Pod>[] | undefined): string {
  const busy = (workers ?? []).filter(({ metadata }) => metadata.labels?.[label.podProtect] === 'true');
  if (busy.length === 0) return '';
  const ends = busy
    .map(({ metadata }) => metadata.annotations?.[annotation.podDeadline] ?? '')
    .filter((end) => end !== '');
  const last = ends.toSorted().at(-1);
  const until =
    last === undefined || ends.length < busy.length ? '' : `, the last until ${last} at the latest`;
  return ` (${busy.length} ${busy.length === 1 ? 'has' : 'have'} jobs now${until})`;
}

const count = (number: number): string => `${number} ${number === 1 ? 'worker' : 'workers'}`;
