import { isDeepStrictEqual } from 'node:util';
import type { Live, Node, Predicate } from '@slurm-operator/kube';

/** Whether a Node changed in anything that a NodeSet looks at: the heartbeats of thousands of machines pass by. */
export const machineChanged: Predicate<Node> = (change) =>
  change.type !== 'updated' || !isDeepStrictEqual(looks(change.object), looks(change.previous));

function looks({ metadata, spec, status }: Live<Node>) {
  return {
    labels: metadata.labels,
    annotations: metadata.annotations,
    unschedulable: spec?.unschedulable,
    taints: spec?.taints,
    conditions: status?.conditions?.map(({ type, status: is, reason, message, lastTransitionTime }) => ({
      type,
      is,
      reason,
      message,
      lastTransitionTime,
    })),
  };
}
