/**
 * Checks a value against a structural schema; the texts are those of the real server.
 * With an old value, a part that is the same as before is not checked again: what was stored may stay.
 */

import type { FieldFault } from '../../api/errors.ts';
import { stringifyExact } from '../../api/json.ts';
import { regularExpression } from '../../cel/regular-expression.ts';
import { isObject, type Json, type JsonObject, jsonEqual, own, type Schema } from '../../schema/schema.ts';
import { itemKeys } from '../../schema/shape.ts';
import {
  invalidValue,
  nowhere,
  requiredValue,
  tooLong,
  tooMany,
  typeInvalid,
  unsupportedValue,
} from './faults.ts';
import { fitsFormat } from './string-formats.ts';

interface Place {
  /** The path in texts: `spec.size in body …`. */
  readonly path: string;
  /** Where that path hangs in the object, for the field of the fault. */
  readonly under: string;
}

function fieldAt({ path, under }: Place): string {
  if (under === '') return path;
  if (path === '') return under;
  return path.startsWith('[') ? `${under}${path}` : `${under}.${path}`;
}

function child({ path, under }: Place, name: string): Place {
  return { path: path === '' ? name : `${path}.${name}`, under };
}

function item({ path, under }: Place, index: number): Place {
  return { path: `${path}[${index}]`, under };
}

/** `under` is the field the value is found at when it is not the whole object. */
export function validateValue(value: Json, schema: Schema, old?: Json, under = ''): FieldFault[] {
  return check(value, schema, { path: '', under }, old);
}

function check(value: Json, schema: Schema, at: Place, old: Json | undefined): FieldFault[] {
  if (old !== undefined && jsonEqual(value, old)) return [];
  const faults: FieldFault[] = [];
  checkType(value, schema, at, faults);
  if (value !== null) checkJunctors(value, schema, at, faults);
  if (typeof value === 'string') checkString(value, schema, at, faults);
  else if (typeof value === 'number' || typeof value === 'bigint') checkNumber(value, schema, at, faults);
  else if (Array.isArray(value)) checkList(value, schema, at, old, faults);
  if (schema.enum && value !== null && !schema.enum.some((each) => jsonEqual(each, value)))
    faults.push(unsupportedValue(fieldAt(at), value, schema.enum));
  if (isObject(value)) checkObject(value, schema, at, old, faults);
  return faults;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  // Beyond what is exact a number was written as a fraction, or is too large for an integer.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return typeof value === 'object' ? 'object' : typeof value;
}

function checkType(value: Json, schema: Schema, at: Place, faults: FieldFault[]): void {
  const actual = typeOf(value);
  if (value === null && schema.nullable) return;
  const wrong = (wanted: string): void => {
    faults.push(
      typeInvalid(fieldAt(at), actual, `${at.path} in body must be of type ${wanted}: "${actual}"`),
    );
  };
  if (schema['x-kubernetes-int-or-string']) {
    if (actual !== 'integer' && actual !== 'string') wrong('integer,string');
    return;
  }
  const wanted = schema.type ?? '';
  if (wanted === '' || wanted === actual || (wanted === 'number' && actual === 'integer')) return;
  const { format = '' } = schema;
  if (format === '' || value === null || actual === 'string' || actual === 'array') return wrong(wanted);
  // Where there is a format, the formats are compared.
  const given = formats[actual] ?? '';
  faults.push(typeInvalid(fieldAt(at), given, `${at.path} in body must be of type ${format}: "${given}"`));
}

const formats: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

function checkString(value: string, schema: Schema, at: Place, faults: FieldFault[]): void {
  const field = fieldAt(at);
  const { maxLength, minLength, pattern, format } = schema;
  const length = Array.from(value).length;
  // The first of these that does not hold is the only one reported.
  if (maxLength !== undefined && length > maxLength) faults.push(tooLong(field, maxLength));
  else if (minLength !== undefined && length < minLength)
    faults.push(invalidValue(field, value, `${at.path} in body should be at least ${minLength} chars long`));
  else if (pattern !== undefined && !regularExpression(pattern).test(value))
    faults.push(invalidValue(field, value, `${at.path} in body should match '${pattern}'`));
  if (format !== undefined && !fitsFormat(value, format))
    faults.push(
      typeInvalid(field, value, `${at.path} in body must be of type ${format}: ${stringifyExact(value)}`),
    );
}

const formatLimits: Readonly<Record<string, readonly [number | bigint, number | bigint]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0, 2n ** 64n - 1n],
};

function checkNumber(value: number | bigint, schema: Schema, at: Place, faults: FieldFault[]): void {
  const field = fieldAt(at);
  const { minimum, maximum, multipleOf, format } = schema;
  if (schema.type === 'integer' && typeof value === 'number' && !Number.isInteger(value))
    faults.push(nowhere(`Checked value must be of type integer (default format) in ${at.path}`));
  const limits = format === undefined ? undefined : formatLimits[format];
  if (limits && schema.type === 'integer' && (value < limits[0] || value > limits[1]))
    faults.push(nowhere(`Checked value must be of type integer with format ${format} in ${at.path}`));
  if (multipleOf !== undefined && Number(value) % multipleOf !== 0)
    faults.push(invalidValue(field, value, `${at.path} in body should be a multiple of ${multipleOf}`));
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    const than = schema.exclusiveMaximum ? 'less than' : 'less than or equal to';
    faults.push(invalidValue(field, value, `${at.path} in body should be ${than} ${maximum}`));
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    const than = schema.exclusiveMinimum ? 'greater than' : 'greater than or equal to';
    faults.push(invalidValue(field, value, `${at.path} in body should be ${than} ${minimum}`));
  }
}

function checkList(
  items: readonly Json[],
  schema: Schema,
  at: Place,
  old: Json | undefined,
  faults: FieldFault[],
): void {
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && items.length < minItems)
    faults.push(
      invalidValue(fieldAt(at), items.length, `${at.path} in body should have at least ${minItems} items`),
    );
  if (maxItems !== undefined && items.length > maxItems)
    faults.push(tooMany(fieldAt(at), items.length, maxItems));
  const itemSchema = schema.items;
  if (!itemSchema) return;
  const before = correlate(schema, old);
  for (const [index, each] of items.entries())
    faults.push(...check(each, itemSchema, item(at, index), before(each)));
}

/** Only items of keyed lists can be told to be the same as before. */
export function correlate(schema: Schema, old: Json | undefined): (item: Json) => Json | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return () => undefined;
  const byKey = new Map(
    old.filter(isObject).map((each) => [stringifyExact(itemKeys(schema, each)), each as Json] as const),
  );
  return (each) => (isObject(each) ? byKey.get(stringifyExact(itemKeys(schema, each))) : undefined);
}

function checkObject(
  value: JsonObject,
  schema: Schema,
  at: Place,
  old: Json | undefined,
  faults: FieldFault[],
): void {
  const count = Object.keys(value).length;
  const { minProperties, maxProperties, properties = {}, additionalProperties } = schema;
  if (minProperties !== undefined && count < minProperties)
    faults.push(
      invalidValue(fieldAt(at), count, `${at.path} in body should have at least ${minProperties} properties`),
    );
  if (maxProperties !== undefined && count > maxProperties)
    faults.push(tooMany(fieldAt(at), count, maxProperties));
  for (const name of requiredNames(schema))
    if (own(value, name) === undefined) faults.push(requiredValue(fieldAt(child(at, name))));
  const before = isObject(old) ? old : {};
  for (const [name, each] of Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const known =
      own(properties, name) ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    if (known) faults.push(...check(each, known, child(at, name), own(before, name)));
  }
}

function requiredNames(schema: Schema): readonly string[] {
  const required = schema.required ?? [];
  return schema['x-kubernetes-embedded-resource'] ? ['apiVersion', 'kind', ...required] : required;
}

/** allOf, anyOf, oneOf and not. The faults of the first alternative tell what was missing. */
function checkJunctors(value: Json, schema: Schema, at: Place, faults: FieldFault[]): void {
  const results = (alternatives: readonly Schema[]): FieldFault[][] =>
    alternatives.map((alternative) => check(value, alternative, at, undefined));
  if (schema.anyOf && !schema['x-kubernetes-int-or-string']) {
    const tried = results(schema.anyOf);
    if (!tried.some((found) => found.length === 0))
      faults.push(nowhere(`"${at.path}" must validate at least one schema (anyOf)`), ...(tried[0] ?? []));
  }
  if (schema.oneOf) {
    const tried = results(schema.oneOf);
    const valid = tried.filter((found) => found.length === 0).length;
    const sentence = `"${at.path}" must validate one and only one schema (oneOf).`;
    if (valid === 0) faults.push(nowhere(`${sentence} Found none valid`), ...(tried[0] ?? []));
    else if (valid > 1) faults.push(nowhere(`${sentence} Found ${valid} valid alternatives`));
  }
  if (schema.allOf) {
    const failing = results(schema.allOf).filter((found) => found.length > 0);
    const none = failing.length === schema.allOf.length ? '. None validated' : '';
    if (failing.length > 0)
      faults.push(...failing.flat(), nowhere(`"${at.path}" must validate all the schemas (allOf)${none}`));
  }
  if (schema.not && check(value, schema.not, at, undefined).length === 0)
    faults.push(nowhere(`"${at.path}" must not validate the schema (not)`));
}
