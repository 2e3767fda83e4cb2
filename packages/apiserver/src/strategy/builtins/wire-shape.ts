/**
 * How a built-in object looks once it has been through the server's typed model: empty lists and maps are gone, so are
 * zeros and empty texts of fields that cannot tell "unset" from "zero", while some parts are always there
 * (`resources: {}`, `lastProbeTime: null`). Quantities take their canonical text.
 *
 * The schema says which fields exist; wire-tables.ts says what it does not: which scalars can hold a zero,
 * and which parts a typed object always has.
 */

import { QUANTITY_SYNTAX_MESSAGE, Quantity } from '@slurm-operator/kubernetes-values';
import { badRequest } from '../../api/errors.ts';
import type { Json, JsonObject } from '../../api/types.ts';
import type { Schema as PlainSchema } from '../../schema/schema.ts';
import { base64Fault, readMicroTime, readTime } from './go-time.ts';
import {
  ABSENT_THOUGH_REQUIRED,
  ALWAYS,
  EMPTY_IS_OWNED,
  KEEP_ZERO,
  NULL_WHEN_UNSET,
  ZERO_WHEN_UNSET,
} from './wire-tables.ts';

/** A schema that says which type of the model it was made from. */
type Schema = PlainSchema & { readonly 'x-type-name'?: string };

/** Gives the object its wire shape in place; throws a 400 when a quantity in it is none. */
export function shapeForWire(object: JsonObject, schema: Schema, kind: string, version: string): void {
  const faults: string[] = [];
  shapeStruct(object, schema, faults);
  const [fault] = faults;
  if (fault !== undefined)
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${fault}`,
    );
}

function shapeStruct(value: JsonObject, schema: Schema, faults: string[]): void {
  const plan = planOf(schema);
  for (const key in value) {
    const field = plan.fields.get(key);
    if (field === undefined) continue;
    const shaped = shapeField(value[key], field, faults);
    if (shaped === undefined) delete value[key];
    else value[key] = shaped as Json;
  }
  for (const [key, fallback] of plan.fallbacks) {
    if (value[key] !== undefined) continue;
    if (fallback === EMPTY_STRUCT) {
      const made: JsonObject = {};
      const field = plan.fields.get(key);
      if (field?.schema) shapeStruct(made, field.schema, faults);
      value[key] = made;
    } else value[key] = fallback;
  }
}

interface Field {
  readonly type: 'list' | 'map' | 'struct' | 'quantity' | 'time' | 'scalar' | 'any';
  readonly keepZero: boolean;
  /** An empty list stays for now: it is stored as null, but the manager that sent it owns it. */
  readonly keepEmpty?: boolean;
  readonly schema: Schema | undefined;
  /** What a null among the items of a list or a map stands for. */
  readonly zero?: string | number | boolean;
}

/** What a field holds when the client left it out: an empty struct of its type, or a plain value. */
type Fallback = typeof EMPTY_STRUCT | null | string | number | boolean;
const EMPTY_STRUCT = Symbol('an empty struct');

interface Plan {
  readonly fields: ReadonlyMap<string, Field>;
  readonly fallbacks: readonly (readonly [string, Fallback])[];
}

function shapeField(value: unknown, field: Field, faults: string[]): unknown {
  if (value === undefined || value === null) return undefined;
  switch (field.type) {
    case 'any':
      return value;
    case 'quantity':
      return quantity(value, faults);
    case 'time':
      return time(value, field, faults);
    case 'list':
      return shapeList(value, field, faults);
    case 'map':
      return shapeMap(value, field, faults);
    case 'struct':
      if (isStruct(value) && field.schema) shapeStruct(value, field.schema, faults);
      return value;
    case 'scalar':
      return field.keepZero || (value !== 0 && value !== '' && value !== false) ? value : undefined;
    default:
      return value;
  }
}

function shapeList(value: unknown, field: Field, faults: string[]): unknown {
  if (!Array.isArray(value)) return value;
  if (value.length === 0) return field.keepEmpty ? value : undefined;
  for (const [index, item] of value.entries()) {
    // A null among items is an item of which nothing was said.
    if (item === null) value[index] = field.schema ? {} : field.zero;
    const shaped: unknown = value[index];
    if (field.schema && isStruct(shaped)) shapeStruct(shaped, field.schema, faults);
  }
  return value;
}

function shapeMap(value: unknown, field: Field, faults: string[]): unknown {
  if (!isStruct(value)) return value;
  const keys = Object.keys(value);
  if (keys.length === 0) return undefined;
  for (const key of keys) if (value[key] === null) value[key] = field.zero as Json;
  if (field.schema && isQuantity(field.schema))
    for (const key of keys) value[key] = quantity(value[key], faults) as Json;
  else if (field.schema?.format === 'byte')
    for (const key of keys) {
      const text = value[key];
      const fault = base64Fault(typeof text === 'string' ? text : '');
      if (fault !== undefined) faults.push(fault);
      value[key] ??= '';
    }
  return value;
}

function time(value: unknown, field: Field, faults: string[]): unknown {
  if (typeof value !== 'string') return value;
  const read = field.schema?.format === 'date-time-micro' ? readMicroTime(value) : readTime(value);
  if ('text' in read) return read.text;
  faults.push(read.fault);
  return value;
}

function quantity(value: unknown, faults: string[]): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const text = Quantity.parse(value)?.toString();
  if (text === undefined) faults.push(QUANTITY_SYNTAX_MESSAGE);
  return text ?? value;
}

const plans = new WeakMap<Schema, Plan>();

function planOf(schema: Schema): Plan {
  const known = plans.get(schema);
  if (known) return known;
  const type = schema['x-type-name'] ?? '';
  const required = new Set(schema.required ?? []);
  const fieldsOfType = new Map<string, Field>();
  const fallbacks: [string, Fallback][] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const path = `${type}.${name}`;
    const always = required.has(name) || ZERO_WHEN_UNSET.has(path);
    const field = {
      ...fieldOf(property, KEEP_ZERO.has(path) || always),
      keepEmpty: EMPTY_IS_OWNED.has(path),
    };
    fieldsOfType.set(name, field);
    if (NULL_WHEN_UNSET.has(path)) fallbacks.push([name, null]);
    else if (ALWAYS.has(path)) fallbacks.push([name, EMPTY_STRUCT]);
    else if (always && !ABSENT_THOUGH_REQUIRED.has(path) && name !== 'metadata')
      fallbacks.push([name, zeroOf(property, field)]);
    else if (type === 'V1ResourceFieldSelector' && name === 'divisor') fallbacks.push([name, '0']);
  }
  const plan = { fields: fieldsOfType, fallbacks };
  plans.set(schema, plan);
  return plan;
}

function fieldOf(property: Schema, keepZero: boolean): Field {
  if (isQuantity(property)) return { type: 'quantity', keepZero, schema: undefined };
  if (property.format === 'date-time' || property.format === 'date-time-micro')
    return { type: 'time', keepZero, schema: property };
  if (property['x-kubernetes-int-or-string']) return { type: 'scalar', keepZero, schema: undefined };
  if (property['x-kubernetes-preserve-unknown-fields']) return { type: 'any', keepZero, schema: undefined };
  if (property.type === 'array')
    return {
      type: 'list',
      keepZero,
      schema: property.items?.properties ? property.items : undefined,
      zero: scalarZero(property.items ?? {}),
    };
  if (property.type === 'object' && property.properties === undefined) {
    const values = property.additionalProperties;
    const schema = typeof values === 'object' ? values : undefined;
    return {
      type: 'map',
      keepZero,
      schema,
      zero: schema && isQuantity(schema) ? '0' : scalarZero(schema ?? {}),
    };
  }
  if (property.type === 'object') return { type: 'struct', keepZero, schema: property };
  return { type: 'scalar', keepZero, schema: undefined };
}

function zeroOf(property: Schema, field: Field): Fallback {
  if (field.type === 'struct') return EMPTY_STRUCT;
  if (field.type !== 'scalar') return null;
  return scalarZero(property);
}

function scalarZero(property: Schema): string | number | boolean {
  if (property['x-kubernetes-int-or-string']) return 0;
  switch (property.type) {
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      return '';
  }
}

function isQuantity(schema: Schema): boolean {
  return schema.format === 'quantity';
}

function isStruct(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
