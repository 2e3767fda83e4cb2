/** Whether a pod may run on a node: `nodeSelector`, required node affinity, taints and tolerations. Pure. */
import { mapMatches, ruleHolds, type SelectorRule } from '@slurm-operator/kubernetes-values';
import type { DeepReadonly } from './object.ts';
import type { Node, Pod } from './resources.ts';

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly SelectorRule[];
  readonly matchFields?: readonly SelectorRule[];
}

type Selective = Pick<DeepReadonly<NonNullable<Pod['spec']>>, 'nodeSelector' | 'affinity'>;
type Labelled = Pick<DeepReadonly<Node>, 'metadata'>;

/** Whether the node matches the `nodeSelector` and the required node affinity of the pod. */
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
type Taint = DeepReadonly<NonNullable<NonNullable<Node['spec']>['taints']>[number]>;
type Toleration = DeepReadonly<NonNullable<NonNullable<Pod['spec']>['tolerations']>[number]>;

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  const operator = toleration.operator ?? 'Equal';
  if (toleration.key === undefined || toleration.key === '') return operator === 'Exists';
  if (toleration.key !== taint.key) return false;
  return operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
}

/** The first taint with one of the effects that nothing tolerates. */
export function untolerated(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly string[],
): Taint | undefined {
  return taints?.find(
    (taint) =>
      effects.includes(taint.effect) && !(tolerations ?? []).some((entry) => tolerates(entry, taint)),
  );
}
