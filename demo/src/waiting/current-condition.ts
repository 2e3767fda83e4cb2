import { type Condition, findCondition } from '@slurm-operator/kube';

/** A condition of an object; undefined while its status is about an older spec. */
export function currentCondition(
  object: { readonly metadata: { readonly generation?: number | undefined } },
  type: string,
): Condition | undefined {
  const { status } = object as { status?: { observedGeneration?: number; conditions?: Condition[] } };
  return status?.observedGeneration === object.metadata.generation
    ? findCondition(status?.conditions, type)
    : undefined;
}
