/** Taints and tolerations. Pure. */
import type { DeepReadonly } from './object.ts';
import type { Node, Pod } from './resources.ts';

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
