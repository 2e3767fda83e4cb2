/** nodeSelector and node affinity: which nodes a pod may use, and which it likes. */
import { mapMatches } from '../objects/label-selector.ts';
import type { Node, Pod } from '../objects/objects.ts';

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export function matchesNode(pod: Pod, node: Node): boolean {
  if (!mapMatches(pod.spec.nodeSelector ?? {}, node.metadata.labels)) return false;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesTerms(required.nodeSelectorTerms, node);
}

/** Terms are alternatives; an empty term matches nothing. */
export function matchesTerms(terms: readonly NodeSelectorTerm[], node: Node): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

function matchesTerm(term: NodeSelectorTerm, node: Node): boolean {
  const expressions = term.matchExpressions ?? [];
  const fields = term.matchFields ?? [];
  if (expressions.length + fields.length === 0) return false;
  return (
    expressions.every((rule) => holds(rule, node.metadata.labels?.[rule.key])) &&
    fields.every((rule) => holds(rule, rule.key === 'metadata.name' ? node.metadata.name : undefined))
  );
}

function holds({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** The sum of the weights of the preferences a node fulfils. */
export function preferenceWeight(pod: Pod, node: Node): number {
  return (pod.spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).reduce(
    (sum, entry) => sum + (matchesTerm(entry.preference, node) ? entry.weight : 0),
    0,
  );
}
