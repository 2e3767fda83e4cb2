/** Whether a pod could be placed on a Node, by the rules the scheduler uses: name, selector, required affinity, taints. */
import { type DeepReadonly, type Node, type Pod, selectsNode, untolerated } from '@slurm-operator/kube';

export type Placement = Pick<
  DeepReadonly<NonNullable<Pod['spec']>>,
  'nodeName' | 'nodeSelector' | 'affinity' | 'tolerations'
>;

export function fitsNode(pod: Placement, node: DeepReadonly<Node>): boolean {
  if (pod.nodeName !== undefined && pod.nodeName !== '' && pod.nodeName !== node.metadata.name) return false;
  return (
    selectsNode(pod, node) &&
    untolerated(node.spec?.taints, pod.tolerations, ['NoSchedule', 'NoExecute']) === undefined
  );
}
