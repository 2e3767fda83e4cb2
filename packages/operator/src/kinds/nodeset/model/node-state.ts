/** What a Slurm node's state means for the worker behind it. */
import { reasonPrefix } from '@slurm-operator/api';
import { isBusy, isDrain, isDrained } from '@slurm-operator/slurm';
import type { Observed, SlurmNode, SlurmView, Worker } from './observed.ts';

/** The questions that are the same for every Slurm node; a state that is not known counts as busy. */
export { isBusy, isDrain as hasDrain, isDrained };

type State = Pick<SlurmNode, 'base' | 'flags'>;

/** The hook of a worker that upstream created before 1.1.1 sets its node DOWN in these words, without the prefix. */
const upstreamsHook = 'Pod is terminating';

/** Not the words of a person: ours, or upstream's. */
export const isOperators = (reason: string): boolean =>
  reason.startsWith(reasonPrefix) || reason === upstreamsHook;

/** A drain whose reason lacks our prefix is not ours and is never changed (law L2). */
export function isOurDrain(node: SlurmNode): boolean {
  return isDrain(node) && isOperators(node.reason);
}

/** Drained, or held back, by a person or by Slurm itself: hands off. */
export function isForeign(node: State & Pick<SlurmNode, 'reason'>): boolean {
  return isDrain(node) && !isOperators(node.reason);
}

/** What slurmctld writes when it sets a node DOWN. */
const slurmsOwnReasons =
  /^(not responding|node unexpectedly rebooted|resumetimeout reached|(scheduled )?reboot|low |gres\/|duplicate jobid|none$)/i;

/** Set DOWN in the words of a person, and not drained as well. */
export function isDownByPerson(node: State & Pick<SlurmNode, 'reason'>): boolean {
  if (node.base !== 'DOWN' || isDrain(node) || node.reason === '') return false;
  return !isOperators(node.reason) && !slurmsOwnReasons.test(node.reason);
}

/**
 * Law L15: the record was made by this worker, or by another worker of its NodeSet. Its name proves nothing: a static node, a worker of
 * another set or a slurmd outside of Kubernetes may have the same.
 */
export function isOwn(node: SlurmNode, worker: Worker): boolean {
  return node.ours || node.instanceId === worker.uid || isAtAddressOf(node, worker);
}

/** The slurmd behind this record is the one in this very pod, not the one of its predecessor. */
export function isRegisteredBy(node: SlurmNode, worker: Worker): boolean {
  if (!responds(node)) return false;
  if (node.instanceId === worker.uid || isAtAddressOf(node, worker)) return true;
  const late = startedAfter(node, worker);
  if (!node.ours || late === undefined || late < 0) return false;
  // slurmd tells its instance id once, at its first registration. Where slurmctld misses that one, the record keeps the
  // predecessor's id for good (seen in about 1 of 10 quick replacements on 26.05), so another id alone proves nothing.
  return node.instanceId === undefined || late <= startsWithin;
}

/** A slurmd that started with this pod's container, or later, registered from this pod's address. */
function isAtAddressOf(node: SlurmNode, worker: Worker): boolean {
  return (
    worker.address !== undefined && node.address === worker.address && (startedAfter(node, worker) ?? -1) >= 0
  );
}

/** How long after the container its slurmd started; Slurm and the kubelet both count whole seconds. */
function startedAfter(node: SlurmNode, worker: Worker): number | undefined {
  if (worker.startedAt === undefined || node.slurmdStartedAt === undefined) return undefined;
  return node.slurmdStartedAt + 1000 - worker.startedAt;
}

/**
 * The slurmd that Slurm counts on ended with the containers that ended then. One that registered since is another: the kubelet restarts a
 * container at once and reports it up to seconds later, and on the host network the next pod has the same name.
 */
export function isOfDead(node: Pick<SlurmNode, 'slurmdStartedAt'>, endedAt: number): boolean {
  return node.slurmdStartedAt === undefined || node.slurmdStartedAt < endedAt;
}

/** slurmd is the container's first process: one that started much later than the container is another one. */
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

/** What Slurm says of a worker's own node. `foreign`: it has a node of that name that is not known to be the worker's. */
export type WorkerAnswer = NodeAnswer | { readonly kind: 'foreign'; readonly node: SlurmNode };

/** The only way to ask about the node of a worker. */
export function askAbout(
  worker: Worker,
  { slurm, lastWrites }: Pick<Observed, 'slurm' | 'lastWrites'>,
): WorkerAnswer {
  const answer = askSlurm(slurm, worker.slurmName, lastWrites);
  return answer.kind === 'present' && !isOwn(answer.node, worker)
    ? { kind: 'foreign', node: answer.node }
    : answer;
}

/**
 * Asks about a node by its name. A list that began before our last change of the node is as good as no list:
 * it may show a state that we have ended ourselves (law L1).
 */
export function askSlurm(view: SlurmView, name: string, lastWrites: ReadonlyMap<string, number>): NodeAnswer {
  if (view.kind === 'unknown') return { kind: 'unknown', why: view.why };
  if (view.at <= (lastWrites.get(name) ?? Number.NEGATIVE_INFINITY))
    return { kind: 'unknown', why: 'waiting for a node list that is newer than the last change' };
  const node = view.nodes.get(name);
  return node === undefined ? { kind: 'absent' } : { kind: 'present', node };
}
