/** Faults of fields, in the words of the API. */
import type { FieldFault } from '../../api/errors.ts';
import { stringifyExact } from '../../api/json.ts';
import type { Json } from '../../schema/schema.ts';

export function invalidValue(field: string, value: Json | undefined, detail: string): FieldFault {
  return {
    reason: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${stringifyExact(value ?? null)}: ${detail}`,
  };
}

export function typeInvalid(field: string, value: Json, detail: string): FieldFault {
  return {
    reason: 'FieldValueTypeInvalid',
    field,
    message: `Invalid value: ${stringifyExact(value)}: ${detail}`,
  };
}

export function requiredValue(field: string, detail = ''): FieldFault {
  return {
    reason: 'FieldValueRequired',
    field,
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  };
}

export function forbiddenField(field: string, detail: string): FieldFault {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${detail}` };
}

export function unsupportedValue(field: string, value: Json, supported: readonly Json[]): FieldFault {
  const shown = supported.map((each) =>
    stringifyExact(typeof each === 'string' ? each : stringifyExact(each)),
  );
  return {
    reason: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${stringifyExact(value)}: supported values: ${shown.join(', ')}`,
  };
}

export function duplicateValue(field: string, value: Json): FieldFault {
  return { reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${stringifyExact(value)}` };
}

export function tooLong(field: string, most: number): FieldFault {
  return { reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${most} bytes` };
}

export function tooMany(field: string, count: number, most: number): FieldFault {
  return {
    reason: 'FieldValueTooMany',
    field,
    message: `Too many: ${count}: must have at most ${most} item${most === 1 ? '' : 's'}`,
  };
}

/** A fault that belongs to no one field. */
export function nowhere(detail: string): FieldFault {
  return { reason: 'FieldValueInvalid', field: '<nil>', message: `Invalid value: "": ${detail}` };
}
