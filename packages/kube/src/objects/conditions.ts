/** Status conditions by the book: one per type, and `lastTransitionTime` changes only when `status` does. Pure. */

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

/** A condition as a controller judges it now; when it became so is worked out. */
export type Judgement = Omit<Condition, 'lastTransitionTime'>;

/**
 * The list with this condition set. The very same list when nothing differs, so that `!==` tells whether to write.
 * `now` is in milliseconds.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  judgement: Judgement,
  now: number,
): readonly Condition[] {
  const before = conditions ?? [];
  const known = findCondition(before, judgement.type);
  if (
    known !== undefined &&
    known.status === judgement.status &&
    known.reason === judgement.reason &&
    known.message === judgement.message &&
    known.observedGeneration === judgement.observedGeneration
  )
    return before;
  const lastTransitionTime =
    known !== undefined && known.status === judgement.status ? known.lastTransitionTime : timestamp(now);
  const next: Condition = { ...judgement, lastTransitionTime };
  // Order is kept: a list that is shuffled looks like a change to everyone who watches.
  return known === undefined
    ? [...before, next]
    : before.map((condition) => (condition === known ? next : condition));
}

export function removeCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): readonly Condition[] {
  const before = conditions ?? [];
  return findCondition(before, type) === undefined
    ? before
    : before.filter((condition) => condition.type !== type);
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

/** Kubernetes writes times of whole seconds. */
export function timestamp(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
}
