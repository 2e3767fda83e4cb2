/** Node affinity: which nodes a pod likes. Which it may use at all is a rule of the runtime (`selectsNode`). */
import { termMatches } from '@slurm-operator/kube';
import type { Node, Pod } from '../objects/objects.ts';

/** The sum of the weights of the preferences a node fulfils. */
export function preferenceWeight(pod: Pod, node: Node): number {
  return (pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).reduce(
    (sum, entry) => sum + (termMatches(entry.preference, node) ? entry.weight : 0),
    0,
  );
}
