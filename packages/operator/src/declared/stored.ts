/** `status.applied`, `status.plan` and `status.drift` of an object that declares a row, between the object and the decision. Pure. */
import type { Applied } from './decide.ts';
import { describeChange, type FieldChange, type FieldValue } from './fields.ts';

/** The longest list in a status: the rest is counted. */
const most = 50;

export function readApplied(stored: Readonly<Record<string, string>> | undefined): Applied | undefined {
  if (stored === undefined) return undefined;
  return Object.fromEntries(Object.entries(stored).map(([path, text]) => [path, parse(text)]));
}

export const writeApplied = (applied: Applied): Record<string, string> =>
  Object.fromEntries(Object.entries(applied).map(([path, value]) => [path, JSON.stringify(value)]));

/** A line for each change, as `status.plan` and `status.drift` show them. */
export function changeLines(changes: readonly FieldChange[]): string[] {
  const lines = changes.slice(0, most).map(describeChange);
  const left = changes.length - lines.length;
  return left > 0 ? [...lines, `${left} more`] : lines;
}

/** A status that someone edited is read as "being written": the field is written again. */
function parse(text: string): FieldValue | null {
  try {
    const value: unknown = JSON.parse(text);
    const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
    return isList || ['string', 'number', 'boolean'].includes(typeof value) ? (value as FieldValue) : null;
  } catch {
    return null;
  }
}
