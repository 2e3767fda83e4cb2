/** What can be wrong with a field, worded as the API words it. */
import type { FieldFault } from './errors.ts';
import { stringifyExact } from './json.ts';

export function required(field: string, detail?: string): FieldFault {
  return { reason: 'FieldValueRequired', field, message: withDetail('Required value', detail) };
}

export function invalidValue(field: string, value: unknown, detail: string): FieldFault {
  return {
    reason: 'FieldValueInvalid',
    field,
    message: withDetail(`Invalid value: ${shown(value)}`, detail),
  };
}

export function notSupported(field: string, value: string, supported: readonly string[]): FieldFault {
  const list = supported.map((item) => JSON.stringify(item)).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${shown(value)}: supported values: ${list}`,
  };
}

export function duplicate(field: string, value: unknown): FieldFault {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${shown(value)}` };
}

export function forbiddenField(field: string, detail: string): FieldFault {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
}

export function notFoundValue(field: string, value: unknown): FieldFault {
  return { reason: 'FieldValueNotFound', field, message: `Not found: ${shown(value)}` };
}

export function tooLong(field: string, maximum: number): FieldFault {
  return {
    reason: 'FieldValueTooLong',
    field,
    message: `Too long: may not be more than ${maximum} bytes`,
  };
}

export function tooMany(field: string, count: number, maximum: number): FieldFault {
  return {
    reason: 'FieldValueTooMany',
    field,
    message: `Too many: ${count}: must have at most ${maximum} item${maximum === 1 ? '' : 's'}`,
  };
}

function withDetail(text: string, detail: string | undefined): string {
  return detail === undefined || detail === '' ? text : `${text}: ${detail}`;
}

function shown(value: unknown): string {
  return stringifyExact(value ?? null);
}
