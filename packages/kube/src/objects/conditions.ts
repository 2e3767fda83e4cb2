/** Status conditions as in the Kubernetes API conventions: one per type; `lastTransitionTime` changes only with `status`. Pure. */

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** One CamelCase word for programs. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** A condition to set; `lastTransitionTime` is derived. */
export type NewCondition = Omit<Condition, 'lastTransitionTime'>;

/**
 * The list with this condition set. Returns the same array if nothing differs, so that `!==` tells whether to write it.
 * `now` is in milliseconds.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  newCondition: NewCondition,
  now: number,
): readonly Condition[] {
  const before = conditions ?? [];
  const known = findCondition(before, newCondition.type);
  if (
    known !== undefined &&
    known.status === newCondition.status &&
    known.reason === newCondition.reason &&
    known.message === newCondition.message &&
    known.observedGeneration === newCondition.observedGeneration
  )
    return before;
  const lastTransitionTime =
    known !== undefined && known.status === newCondition.status ? known.lastTransitionTime : timestamp(now);
  const next: Condition = { ...newCondition, lastTransitionTime };
  // The order is kept: a different order would be a change for every watcher.
  return known === undefined
    ? [...before, next]
    : before.map((condition) => (condition === known ? next : condition));
}

export function findCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** Kubernetes timestamps have whole seconds. */
export function timestamp(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
}
