/** Whether a pod could be placed on a Node, by the rules the scheduler uses: name, selector, required affinity, taints. */
import type { DeepReadonly, Node, Pod } from '@slurm-operator/kube';

type PodSpec = DeepReadonly<NonNullable<Pod['spec']>>;

export type Placement = Pick<PodSpec, 'nodeName' | 'nodeSelector' | 'affinity' | 'tolerations'>;

type Toleration = NonNullable<PodSpec['tolerations']>[number];
type Taint = NonNullable<NonNullable<DeepReadonly<Node>['spec']>['taints']>[number];
interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export function fitsNode(pod: Placement, node: DeepReadonly<Node>): boolean {
  const labels = node.metadata?.labels ?? {};
  const fields = { 'metadata.name': node.metadata?.name ?? '' };
  if (pod.nodeName !== undefined && pod.nodeName !== '' && pod.nodeName !== node.metadata?.name) return false;
  if (!Object.entries(pod.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const terms = pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms !== undefined) {
    const matches = terms.some((term) => {
      const expressions = term.matchExpressions ?? [];
      const fieldRules = term.matchFields ?? [];
      // A term that asks for nothing matches nothing, as in Kubernetes.
      if (expressions.length + fieldRules.length === 0) return false;
      return (
        expressions.every((rule) => holds(rule, labels)) && fieldRules.every((rule) => holds(rule, fields))
      );
    });
    if (!matches) return false;
  }
  const repelling = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === 'NoSchedule' || taint.effect === 'NoExecute',
  );
  return repelling.every((taint) =>
    (pod.tolerations ?? []).some((toleration) => tolerates(toleration, taint)),
  );
}

function holds(
  { key, operator, values = [] }: Requirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[key];
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

function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.operator === 'Exists')
    return toleration.key === undefined || toleration.key === '' || toleration.key === taint.key;
  return toleration.key === taint.key && (toleration.value ?? '') === (taint.value ?? '');
}
