/**
 * What to change in Slurm so that a row is as an object declares it. Only fields that the specification names are owned; all
 * others keep their values. Pure.
 */
import { type FieldChange, type Fields, type FieldValue, sameValue } from './fields.ts';

/**
 * What the operator wrote, by field, as the status of the object keeps it; null: it is being written. The status says so before Slurm
 * is written, so that a crash between the two forgets no field that must be unset later, and takes no unfinished write for drift.
 */
export type Applied = Readonly<Record<string, FieldValue | null>>;

export interface Declared {
  /** What the specification names; at least the name of the row. */
  readonly desired: Fields;
  /** Undefined: this row was never written or adopted. */
  readonly applied: Applied | undefined;
  /** The row in Slurm; undefined: there is none. Unknown is not undefined: without a fresh list nothing may be decided. */
  readonly current: Fields | undefined;
  /** Values of fields that Slurm always has, when they are not set. */
  readonly defaults?: Fields;
  readonly drift: 'Correct' | 'Report';
  /** Take over a row that existed before the object. */
  readonly adopt: boolean;
}

export interface Decision {
  /**
   * - `Create`: there is no such row; it is created with `changes`.
   * - `NotAdopted`: it existed before, and `adopt` is not set: `changes` are only shown.
   * - `Missing`: it was deleted by someone else, and drift is only reported.
   * - `Change`: `changes` are written, if there are any.
   */
  readonly kind: 'Create' | 'NotAdopted' | 'Missing' | 'Change';
  readonly changes: readonly FieldChange[];
  /** What someone else changed and nothing corrects. */
  readonly drift: readonly FieldChange[];
}

export function decide({ desired, applied, current, defaults = {}, drift, adopt }: Declared): Decision {
  const wrong = differences(desired, current ?? {}, defaults);
  if (current === undefined) {
    const wasWritten = Object.values(applied ?? {}).some((value) => value !== null);
    const kind = drift === 'Report' && wasWritten ? 'Missing' : 'Create';
    return { kind, changes: wrong, drift: [] };
  }
  if (applied === undefined && !adopt) return { kind: 'NotAdopted', changes: wrong, drift: [] };
  const owned = applied ?? {};
  // What the operator wrote and someone else changed since is drift; every other difference is a change of the specification.
  const isReported = ({ path, to }: FieldChange) =>
    drift === 'Report' && path in owned && owned[path] !== null && sameValue(owned[path] ?? undefined, to);
  const left = Object.entries(owned).flatMap(([path, wrote]): FieldChange[] => {
    const from = current[path] ?? defaults[path];
    if (path in desired || sameValue(from, defaults[path])) return [];
    // Not owned any more, and its value is someone else's.
    if (drift === 'Report' && wrote !== null && !sameValue(from, wrote)) return [];
    return [{ path, from, to: defaults[path] }];
  });
  return {
    kind: 'Change',
    changes: [...wrong.filter((change) => !isReported(change)), ...left],
    drift: wrong.filter(isReported),
  };
}

/** What the status must say before `changes` are written. */
export function appliedBefore(
  { desired, applied = {} }: Pick<Declared, 'desired' | 'applied'>,
  changes: readonly FieldChange[],
): Applied {
  const changed = new Set(changes.map(({ path }) => path));
  const paths = Object.keys({ ...applied, ...desired });
  return Object.fromEntries(paths.map((path) => [path, changed.has(path) ? null : (applied[path] ?? null)]));
}

/** And after they were: what left the specification is unset, and not owned any more. */
export const appliedAfter = ({ desired }: Pick<Declared, 'desired'>): Applied => desired;

export function sameApplied(one: Applied | undefined, other: Applied | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const paths = Object.keys(one);
  return (
    paths.length === Object.keys(other).length &&
    paths.every((path) => path in other && sameValue(one[path] ?? undefined, other[path] ?? undefined))
  );
}

function differences(desired: Fields, current: Fields, defaults: Fields): FieldChange[] {
  return Object.keys(desired)
    .toSorted()
    .flatMap((path): FieldChange[] => {
      const from = current[path] ?? defaults[path];
      return sameValue(from, desired[path]) ? [] : [{ path, from, to: desired[path] }];
    });
}
