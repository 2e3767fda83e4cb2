/** `status.applied` of an Account: the rows that the operator wrote, and the fields of each. Pure. */
import type { Applied } from '../../declared/decide.ts';
import type { FieldValue } from '../../declared/fields.ts';
import { lasting, type RowId } from './fields.ts';

export type AppliedRows = ReadonlyMap<RowId, Applied>;

/** Undefined: nothing was ever written or adopted. A status that someone edited is read as "being written". */
export function readRows(stored: Readonly<Record<string, string>> | undefined): AppliedRows | undefined {
  if (stored === undefined) return undefined;
  return new Map(Object.entries(stored).map(([id, text]) => [id, parseRow(text)]));
}

export const writeRows = (rows: AppliedRows): Record<string, string> =>
  Object.fromEntries(
    [...rows].map(([id, { exists, ...fields }]) => [
      id,
      JSON.stringify(exists === null ? { ...fields, exists } : fields),
    ]),
  );

/** What left the specification and cannot be unset is not owned any more. */
export const ownedOf = (applied: Applied, desired: object | undefined): Applied =>
  Object.fromEntries(
    Object.entries(applied).filter(([path]) => !lasting.has(path) || path in (desired ?? {})),
  );

function parseRow(text: string): Applied {
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields))
      return {
        exists: true,
        ...Object.fromEntries(Object.entries(fields).map(([path, value]) => [path, valueOf(value)])),
      };
  } catch {
    // as one that is being written
  }
  return { exists: null };
}

function valueOf(value: unknown): FieldValue | null {
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  return isList || ['string', 'number', 'boolean'].includes(typeof value) ? (value as FieldValue) : null;
}
