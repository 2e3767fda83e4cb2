/** Whether a worker should be drained now, by whose will, and in which words. */
import { reasonPrefix } from '@slurm-operator/api';
import { cleanReason } from '@slurm-operator/slurm';
import type { WhyGone } from '../model/actions.ts';
import { cordonedPodIn } from '../model/node-comment.ts';
import type { DrainingCondition } from '../model/node-conditions.ts';
import { askAbout, hasDrain as isDrain } from '../model/node-state.ts';
import type { CordonCause, Observed, Worker } from '../model/observed.ts';

export type DrainTarget =
  | { readonly drain: false }
  | {
      readonly drain: true;
      readonly cause: CordonCause | 'person';
      readonly reason: string;
      /** A drain of ours whose reason begins so stays as it is: the rest of it may change with every heartbeat of a check. */
      readonly keeps?: string;
      readonly isRemoved: boolean;
    };

const causes: Record<WhyGone, CordonCause> = {
  'scale-in': 'scale-in',
  sleep: 'scale-in',
  'slow-wake': 'replacement',
  'no-machine': 'replacement',
  update: 'update',
  hostname: 'update',
  deletion: 'deletion',
  'wrong-mode': 'replacement',
  duplicate: 'replacement',
  failed: 'replacement',
  unregistered: 'replacement',
};

export function drainTarget(
  worker: Worker,
  why: WhyGone | undefined,
  observed: Observed,
  now: number,
): DrainTarget {
  const pod = () => `Pod (${observed.namespace}/${worker.name})`;
  // Slurm powers its node up or down, which keeps work away from it: nothing is drained.
  if (why === 'sleep' || why === 'slow-wake' || why === 'no-machine') return { drain: false };
  if (why !== undefined) {
    return {
      drain: true,
      isRemoved: true,
      cause: causes[why],
      reason: `${reasonPrefix}${pod()} is pending termination for ${why}`,
    };
  }
  const node = worker.nodeName === undefined ? undefined : observed.nodes.get(worker.nodeName);
  if (node?.unschedulable) {
    const reason = node.cordonReason ?? `Node (${node.name}) was cordoned, ${pod()} must be cordoned`;
    // As Slurm gets it: a reason that is cut on its way would be written again at every look.
    return {
      drain: true,
      isRemoved: false,
      cause: 'node-cordon',
      reason: cleanReason(`${reasonPrefix}${reason}`),
    };
  }
  const condition = node?.drainingConditions.find((each) => drainsNow(each, worker, observed, now));
  if (condition !== undefined) {
    const keeps = conditionReason(condition);
    return {
      drain: true,
      isRemoved: false,
      // As a cordon of the Node: an older operator knows no other cause, and would take the pod for one that a person cordoned.
      cause: 'node-cordon',
      reason: cleanReason(`${keeps} ${condition.text}`),
      keeps,
    };
  }
  if (isCordonedByPerson(worker) || inheritsCordon(worker, observed)) {
    return { drain: true, isRemoved: false, cause: 'person', reason: `${reasonPrefix}${pod()} was cordoned` };
  }
  return { drain: false };
}

/** Begins the reason of the drain for a condition. */
const conditionReason = ({ type }: DrainingCondition): string => `${reasonPrefix}Node condition ${type}:`;

/** Whether the condition is there is unknown while its status is: a drain that it began stays, and none begins. */
function drainsNow(condition: DrainingCondition, worker: Worker, observed: Observed, now: number): boolean {
  if (condition.from !== undefined) return condition.from <= now;
  const answer = askAbout(worker, observed);
  return (
    answer.kind === 'present' &&
    isDrain(answer.node) &&
    answer.node.reason.startsWith(conditionReason(condition))
  );
}

/** When a condition of its Node will have lasted long enough; undefined: none will. */
export function conditionDueAt(worker: Worker, observed: Observed, now: number): number | undefined {
  const node = worker.nodeName === undefined ? undefined : observed.nodes.get(worker.nodeName);
  const times = (node?.drainingConditions ?? []).flatMap(({ from }) =>
    from !== undefined && from > now ? from : [],
  );
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * A person who cordons a worker means its place, not the pod that happens to be there. Nothing of a pod outlives it, so the comment of
 * its Slurm node names the cordoned pod, and a successor takes the cordon over. A place that is removed loses its cordon.
 */
export function cordonToKeep(
  worker: Worker,
  why: WhyGone | undefined,
  observed: Observed,
): string | undefined {
  if (why === 'scale-in' || why === 'deletion') return undefined;
  return isCordonedByPerson(worker) || inheritsCordon(worker, observed) ? worker.uid : undefined;
}

/** Whether a person cordoned the predecessor. */
function inheritsCordon(worker: Worker, observed: Observed): boolean {
  const answer = askAbout(worker, observed);
  const cordoned = answer.kind === 'present' ? cordonedPodIn(answer.node.comment) : undefined;
  return cordoned !== undefined && cordoned !== worker.uid;
}

export function isCordonedByPerson(worker: Worker): boolean {
  return worker.cordoned && worker.cordonCause === undefined;
}
