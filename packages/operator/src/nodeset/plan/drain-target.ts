/** Whether a worker should be drained now, by whose will, and in which words. */

import { reasonPrefix } from '@slurm-operator/api';
import type { WhyGone } from './actions.ts';

import type { CordonCause, Observed, Worker } from './observed.ts';

export type DrainTarget =
  | { readonly drain: false }
  | {
      readonly drain: true;
      readonly cause: CordonCause | 'person';
      readonly reason: string;
      readonly condemned: boolean;
    };

const causes: Record<WhyGone, CordonCause> = {
  'scale-in': 'scale-in',
  update: 'update',
  hostname: 'update',
  deletion: 'deletion',
  'wrong-mode': 'replacement',
  duplicate: 'replacement',
  failed: 'replacement',
  unregistered: 'replacement',
};

export function drainTarget(worker: Worker, why: WhyGone | undefined, observed: Observed): DrainTarget {
  const pod = `Pod (${observed.namespace}/${worker.name})`;
  if (why !== undefined) {
    return {
      drain: true,
      condemned: true,
      cause: causes[why],
      reason: `${reasonPrefix}${pod} is pending termination for ${why}`,
    };
  }
  const node = worker.nodeName === undefined ? undefined : observed.nodes.get(worker.nodeName);
  if (node?.unschedulable) {
    const reason = node.cordonReason ?? `Node (${node.name}) was cordoned, ${pod} must be cordoned`;
    return { drain: true, condemned: false, cause: 'node-cordon', reason: `${reasonPrefix}${reason}` };
  }
  if (worker.cordoned && worker.cordonCause === undefined) {
    return { drain: true, condemned: false, cause: 'person', reason: `${reasonPrefix}${pod} was cordoned` };
  }
  return { drain: false };
}
