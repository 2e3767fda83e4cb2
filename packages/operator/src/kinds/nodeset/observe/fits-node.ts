/** Whether a pod could be placed on a Node, by the rules the scheduler uses: name, selector, required affinity, taints. */
import { type DeepReadonly, type Node, selectsNode, untolerated } from '@slurm-operator/kube';
import type { Placement } from '../objects/worker-placement.ts';

/** What a cordon means to the scheduler; the taint itself comes a moment later. */
const cordoned = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;

/** It could come here now. */
export function fitsNode(pod: Placement, node: DeepReadonly<Node>): boolean {
  const taints = [...(node.spec?.taints ?? []), ...(node.spec?.unschedulable ? [cordoned] : [])];
  return isSelected(pod, node) && tolerates(pod, taints, ['NoSchedule', 'NoExecute']);
}

/** It may go on here if it is here already: of the taints only those that drive pods out count. */
export function mayStayOn(pod: Placement, node: DeepReadonly<Node>): boolean {
  return isSelected(pod, node) && tolerates(pod, node.spec?.taints, ['NoExecute']);
}

function tolerates(
  pod: Placement,
  taints: Parameters<typeof untolerated>[0],
  effects: Parameters<typeof untolerated>[2],
): boolean {
  return untolerated(taints, pod.tolerations, effects) === undefined;
}

/** By its name and its labels the Node is one of those that the pod asks for. */
function isSelected(pod: Placement, node: DeepReadonly<Node>): boolean {
  if (pod.nodeName !== undefined && pod.nodeName !== '' && pod.nodeName !== node.metadata.name) return false;
  return selectsNode(pod, node);
}
