/** Compares a decoded object with the schema of its kind: unknown fields, and values of the wrong type. */
import { isObject } from '../api/json.ts';
import type { Schema } from '../schema/schema.ts';
import { fieldOf } from '../schema/shape.ts';

type Value = Record<string, unknown>;

/** Takes unknown fields out of the object, in place, and answers their paths in the order they stand in. */
export function dropUnknownFields(object: Value, schema: Schema, custom: boolean): string[] {
  const dropped: string[] = [];
  if (custom) dropInCustom(object, schema, '', dropped);
  else dropIn(object, schema, '', dropped);
  return dropped;
}

/** In the schema of a definition an object without properties has no fields; in a built-in one it has any. */
function dropInCustom(value: unknown, schema: Schema, path: string, dropped: string[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined)
      for (const [index, item] of value.entries()) dropInCustom(item, items, `${path}[${index}]`, dropped);
    return;
  }
  if (!isObject(value) || (schema.type !== 'object' && schema.properties === undefined)) return;
  for (const key of Object.keys(value)) {
    const field = fieldOf(schema, key);
    if (field !== undefined) dropInCustom(value[key], field.schema, join(path, key), dropped);
    else {
      dropped.push(join(path, key));
      delete value[key];
    }
  }
}

function dropIn(value: unknown, schema: Schema, path: string, dropped: string[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined)
      for (const [index, item] of value.entries()) dropIn(item, items, `${path}[${index}]`, dropped);
    return;
  }
  if (!isObject(value)) return;
  const { properties, additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    for (const key of Object.keys(value)) dropIn(value[key], additionalProperties, join(path, key), dropped);
    return;
  }
  const open =
    properties === undefined ||
    additionalProperties === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true;
  for (const key of Object.keys(value)) {
    const known = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (known !== undefined) dropIn(value[key], known, join(path, key), dropped);
    else if (!open) {
      dropped.push(join(path, key));
      delete value[key];
    }
  }
}

/** What is wrong with the first value that its field cannot hold, in the words of the real server. */
export function typeFault(object: Value, schema: Schema, path = ''): string | undefined {
  return faultIn(object, schema, { struct: typeName(schema), path });
}

/** Fields that hold a floating-point number round what is sent to one, in place. */
export function roundToFloats(value: unknown, schema: Schema): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) for (const item of value) roundToFloats(item, items);
    return;
  }
  if (!isObject(value)) return;
  const values = schema.additionalProperties;
  for (const key of Object.keys(value)) {
    const field = schema.properties?.[key] ?? (typeof values === 'object' ? values : undefined);
    if (field === undefined) continue;
    if (typeof value[key] === 'bigint' && field.type === 'number') value[key] = Number(value[key]);
    else roundToFloats(value[key], field);
  }
}

interface Place {
  /** The innermost type with a name. */
  readonly struct: string;
  readonly path: string;
}

function faultIn(value: unknown, schema: Schema, place: Place): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (
    schema['x-kubernetes-int-or-string'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true
  )
    return undefined;
  const actual = jsonType(value);
  if (!fits(actual, value, schema)) {
    const what = actual === 'number' && schema.type === 'integer' ? `number ${digits(value)}` : actual;
    return `json: cannot unmarshal ${what} into Go struct field ${place.struct}.${place.path} of type ${goType(schema)}`;
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return undefined;
    for (const item of value) {
      const found = faultIn(item, items, place);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const struct = schema.properties === undefined ? place.struct : typeName(schema);
  for (const key of Object.keys(value)) {
    const values = schema.additionalProperties;
    const field = schema.properties?.[key];
    const found =
      field !== undefined
        ? faultIn(value[key], field, { struct, path: join(place.path, key) })
        : typeof values === 'object'
          ? faultIn(value[key], values, place)
          : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function fits(actual: string, value: unknown, schema: Schema): boolean {
  switch (schema.type) {
    case 'object':
      return actual === 'object';
    case 'array':
      return actual === 'array';
    case 'string':
      return actual === 'string';
    case 'boolean':
      return actual === 'bool';
    case 'integer':
      return fitsInteger(value, schema.format === 'int64' ? 63n : 31n);
    case 'number':
      return actual === 'number';
    default:
      return true;
  }
}

function fitsInteger(value: unknown, bits: bigint): boolean {
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return false;
  const exact = BigInt(value as bigint | number);
  return exact >= -(2n ** bits) && exact < 2n ** bits;
}

/** All of them, also of a number that JavaScript would write with an exponent. */
const digits = (value: unknown): string =>
  typeof value === 'bigint' || Number.isInteger(value)
    ? String(BigInt(value as bigint | number))
    : JSON.stringify(value);

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}

function goType(schema: Schema): string {
  const { additionalProperties } = schema;
  switch (schema.type) {
    case 'array':
      return `[]${schema.items === undefined ? 'interface {}' : goType(schema.items)}`;
    case 'object':
      if (typeof additionalProperties === 'object') return `map[string]${goType(additionalProperties)}`;
      return `v1.${typeName(schema)}`;
    case 'boolean':
      return 'bool';
    case 'integer':
      return schema.format ?? 'int32';
    case 'number':
      return 'float64';
    default:
      return 'string';
  }
}

function typeName(schema: Schema): string {
  const name = (schema as { readonly 'x-type-name'?: string })['x-type-name'] ?? '';
  return name.replace(/^(?:[A-Z][a-z]+)?V\d+(?:alpha\d+|beta\d+)?(?=[A-Z])/, '');
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
