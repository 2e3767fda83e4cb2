/** What the status of an Account remembers of its rows before and after a write. Pure. */
import { type Applied, appliedBefore } from '../../declared/decide.ts';
import type { AppliedRows } from './applied.ts';
import { ownedOf } from './applied.ts';
import type { RowId } from './fields.ts';
import type { AccountPlan } from './plan.ts';

/** What it must say before the rows are written. */
export function appliedBeforeWrite({ applied, desired, write }: AccountPlan): AppliedRows {
  const rows = new Map(applied);
  for (const { id, changes } of write?.rows ?? []) {
    const fields = desired.get(id) ?? {};
    const owned = ownedOf(applied?.get(id) ?? {}, fields);
    rows.set(id, appliedBefore({ desired: fields, applied: owned }, changes));
  }
  return rows;
}

export interface Written {
  /** `untouched`: not even the status was written. */
  readonly write: 'done' | 'failed' | 'untouched';
  readonly exists: (id: RowId) => boolean;
}

/** And after: only what was really written is remembered as such. */
export function appliedAfterWrite(plan: AccountPlan, { write, exists }: Written): AppliedRows | undefined {
  const { applied, desired, decisions } = plan;
  const rows = new Map<RowId, Applied>();
  const before = appliedBeforeWrite(plan);
  const written = new Set(plan.write?.rows.map(({ id }) => id));
  for (const [id, fields] of desired) {
    const decision = decisions.get(id);
    const isAsDeclared = decision?.kind === 'Change' && decision.changes.length === 0;
    const isDone = written.has(id) ? write === 'done' : isAsDeclared;
    const row = isDone ? fields : (write === 'failed' ? before : applied)?.get(id);
    if (row !== undefined) rows.set(id, row);
  }
  // What left the specification is owned until it is gone.
  for (const [id, row] of applied ?? []) if (!desired.has(id) && exists(id)) rows.set(id, row);
  return rows.size === 0 && applied === undefined ? undefined : rows;
}
