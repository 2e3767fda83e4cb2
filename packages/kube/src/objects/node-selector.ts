/** Which nodes a pod may use by its `nodeSelector` and its required node affinity. Pure. */
import { mapMatches, ruleHolds, type SelectorRule } from '@slurm-operator/kubernetes-values';
import type { DeepReadonly } from './object.ts';
import type { Node, Pod } from './resources.ts';

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly SelectorRule[];
  readonly matchFields?: readonly SelectorRule[];
}

type Selective = Pick<DeepReadonly<NonNullable<Pod['spec']>>, 'nodeSelector' | 'affinity'>;
type Labelled = Pick<DeepReadonly<Node>, 'metadata'>;

export function selectsNode({ nodeSelector, affinity }: Selective, node: Labelled): boolean {
  if (!mapMatches(nodeSelector ?? {}, node.metadata.labels)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => termMatches(term, node));
}

/** All rules of a term must hold; a term without any matches nothing, as in Kubernetes. */
export function termMatches(term: NodeSelectorTerm, { metadata }: Labelled): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length + fields.length === 0) return false;
  return (
    expressions.every((rule) => ruleHolds(rule, metadata.labels?.[rule.key])) &&
    fields.every((rule) => ruleHolds(rule, rule.key === 'metadata.name' ? metadata.name : undefined))
  );
}
