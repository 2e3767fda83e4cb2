/** Reads the fields of a write. A wrong one is named with its value and what to do. Pure. */
export interface BadField {
  readonly field: string;
  readonly message: string;
}

type Fields = Readonly<Record<string, unknown>>;

export function isBadField(value: unknown): value is BadField {
  return typeof value === 'object' && value !== null && 'field' in value && 'message' in value;
}

export function textField(
  body: Fields,
  field: string,
  { most = 200, required = false, pattern }: { most?: number; required?: boolean; pattern?: RegExp } = {},
): string | undefined | BadField {
  const value = body[field];
  if (value === undefined || value === '') return required ? bad(field, `${field} is missing.`) : undefined;
  if (typeof value !== 'string') return bad(field, `${field} must be text.`);
  if (value.length > most) return bad(field, `${field} is longer than ${most} characters.`);
  if (hasControls(value) && field !== 'script') return bad(field, `${field} must be one line.`);
  if (pattern !== undefined && !pattern.test(value))
    return bad(
      field,
      `${field} "${value.slice(0, 40)}" is not valid: use letters, digits and . _ - + , = : [ ] /.`,
    );
  return value;
}

export function numberField(
  body: Fields,
  field: string,
  { least = 1, most = 1_000_000 }: { least?: number; most?: number } = {},
): number | undefined | BadField {
  const value = body[field];
  if (value === undefined || value === '') return undefined;
  const number = typeof value === 'number' ? value : Number(value);
  if (!Number.isInteger(number) || number < least || number > most)
    return bad(field, `${field} must be a whole number from ${least} to ${most}.`);
  return number;
}

const bad = (field: string, message: string): BadField => ({ field, message });

const hasControls = (text: string) =>
  text.split('').some((character) => character < ' ' || character === '\u007f');
