/** What a Slurm node's state means for the worker behind it. */
import { reasonPrefix } from '@slurm-operator/api';
import { isBusy as isBusyState } from '@slurm-operator/slurm';
import type { SlurmNode, SlurmView, Worker } from './observed.ts';

/** All that these questions need of a node: a plan and a list spell the rest in their own ways. */
type State = Pick<SlurmNode, 'base' | 'flags'>;

/** Work holds resources on it; also said of every state that nobody here knows. */
export function isBusy(node: State): boolean {
  return isBusyState(node);
}

export function hasDrain(node: State): boolean {
  return node.flags.has('DRAIN') && !node.flags.has('UNDRAIN');
}

/** No work on it, and none can come. */
export function isDrained(node: State): boolean {
  return hasDrain(node) && !isBusy(node);
}

/** A drain whose reason lacks our prefix is somebody else's and is never touched (law L2). */
export function isOurDrain(node: SlurmNode): boolean {
  return hasDrain(node) && node.reason.startsWith(reasonPrefix);
}

/** Drained, or held back, by a person or by Slurm itself: hands off. */
export function isForeign(node: State & Pick<SlurmNode, 'reason'>): boolean {
  return hasDrain(node) && !node.reason.startsWith(reasonPrefix);
}

/** The slurmd behind this record is the one in this very pod, not its predecessor's ghost. */
export function isRegisteredBy(node: SlurmNode, worker: Worker): boolean {
  if (!responds(node)) return false;
  if (node.instanceId === worker.uid) return true;
  if (worker.startedAt === undefined || node.slurmdStartedAt === undefined) return false;
  // Slurm counts whole seconds, the kubelet too: allow for both being cut off.
  const late = node.slurmdStartedAt + 1000 - worker.startedAt;
  if (late < 0) return false;
  // slurmd tells its instance id once, at its first registration. Where slurmctld misses that one, the record keeps the
  // predecessor's id for good (seen in about 1 of 10 quick replacements on 26.05), so another id alone proves nothing.
  return node.instanceId === undefined || node.address === worker.address || late <= startsWithin;
}

/**
 * The slurmd that Slurm counts on ended with the containers that ended then. One that registered since is another: the kubelet restarts a
 * container at once and tells of it up to seconds later, and on a machine's own network the next pod has the same name.
 */
export function isOfDead(node: Pick<SlurmNode, 'slurmdStartedAt'>, endedAt: number): boolean {
  return node.slurmdStartedAt === undefined || node.slurmdStartedAt < endedAt;
}

/** slurmd is the container's first process: one that started much later than the container is somebody else's. */
const startsWithin = 60_000;

function responds(node: State): boolean {
  return (
    !node.flags.has('NOT_RESPONDING') &&
    node.base !== 'DOWN' &&
    node.base !== 'UNKNOWN' &&
    node.base !== 'FUTURE'
  );
}

/** The Slurm node, if the view is known and says something about our last change of it. */
export type NodeAnswer =
  | { readonly kind: 'present'; readonly node: SlurmNode }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * The only way to ask about a node. A list that began before our last change of the node is as good as no list:
 * it may show a state that we have ended ourselves (law L1).
 */
export function askSlurm(view: SlurmView, name: string, lastWrites: ReadonlyMap<string, number>): NodeAnswer {
  if (view.kind === 'unknown') return { kind: 'unknown', why: view.why };
  if (view.at <= (lastWrites.get(name) ?? Number.NEGATIVE_INFINITY))
    return { kind: 'unknown', why: 'waiting for a list newer than our last change' };
  const node = view.nodes.get(name);
  return node === undefined ? { kind: 'absent' } : { kind: 'present', node };
}
