/** Between schemas and expressions: the type of a schema, and a JSON value as an expression sees it. */
import { type Json, own, type Schema } from '../schema/schema.ts';
import { escapeName } from './escape-name.ts';
import { parseDuration, parseTimestamp } from './time.ts';
import { bool, type CelType, double, dyn, int, listOf, mapOf, string } from './types.ts';
import { type CelValue, markUnordered } from './values.ts';

/** The largest request the server takes; nothing in it can be larger. */
const largestRequest = 3 * 1024 * 1024;

const metadataFields = new Map<string, CelType>([
  ['name', { ...string, max: 253 }],
  ['generateName', { ...string, max: 253 }],
]);
const metadataType: CelType = { kind: 'object', name: 'object.metadata', fields: metadataFields };

/** Undefined for content no rule can look into. `isRoot` adds apiVersion, kind and the name. */
export function schemaType(schema: Schema, isRoot: boolean, name = 'object'): CelType | undefined {
  if (schema['x-kubernetes-int-or-string']) return { ...dyn, max: largestRequest - 2 };
  switch (schema.type) {
    case 'array': {
      const item =
        schema.items &&
        schemaType(schema.items, Boolean(schema.items['x-kubernetes-embedded-resource']), `${name}.@idx`);
      if (!item || !schema.items) return undefined;
      return listOf(item, schema.maxItems ?? mostItems(smallest(schema.items)));
    }
    case 'object':
      return objectType(schema, isRoot, name);
    case 'string':
      return stringType(schema);
    case 'boolean':
      return bool;
    case 'number':
      return double;
    case 'integer':
      return int;
    default:
      return undefined;
  }
}

function objectType(schema: Schema, isRoot: boolean, name: string): CelType | undefined {
  if (typeof schema.additionalProperties === 'object') {
    const value = schemaType(schema.additionalProperties, false, `${name}.@prop`);
    if (!value) return undefined;
    const most = schema.maxProperties ?? mostItems(smallest(schema.additionalProperties) + 4);
    return mapOf({ ...string, max: largestRequest }, value, most);
  }
  const fields = new Map<string, CelType>();
  for (const [property, child] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(property);
    const type = schemaType(child, Boolean(child['x-kubernetes-embedded-resource']), `${name}.${property}`);
    if (escaped !== undefined && type) fields.set(escaped, type);
  }
  if (isRoot || schema['x-kubernetes-embedded-resource']) {
    fields.set('apiVersion', string).set('kind', string).set('metadata', metadataType);
  }
  return { kind: 'object', name, fields };
}

function stringType(schema: Schema): CelType {
  switch (schema.format) {
    case 'byte':
      return { kind: 'bytes', max: schema.maxLength ?? Math.floor((largestRequest - 2) * 0.75) };
    case 'duration':
      return { kind: 'duration' };
    case 'date':
    case 'date-time':
      return { kind: 'timestamp' };
    default:
      return { ...string, max: longest(schema) };
  }
}

function longest(schema: Schema): number {
  if (schema.maxLength !== undefined) return schema.maxLength * 4;
  if (schema.enum !== undefined)
    return Math.max(
      0,
      ...schema.enum.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)),
    );
  return largestRequest - 2;
}

function mostItems(smallestItem: number): number {
  return Math.floor((largestRequest - 2) / (smallestItem + 1));
}

/** The fewest bytes a value of the schema takes in a request. */
function smallest(schema: Schema): number {
  if (schema['x-kubernetes-int-or-string']) return 1;
  switch (schema.type) {
    case 'boolean':
      return 4;
    case 'number':
    case 'integer':
      return 1;
    case 'string':
      return 2;
    case 'array':
      return 2;
    case 'object': {
      let size = 2;
      for (const name of schema.required ?? []) {
        const child = schema.properties?.[name];
        if (child && child.default === undefined) size += name.length + smallest(child) + 4;
      }
      return size;
    }
    default:
      return 0;
  }
}

/** Null and content without a type are left out: a rule sees them as absent. */
export function toCel(value: Json, schema: Schema): CelValue | undefined {
  if (value === null) return schema.nullable ? null : undefined;
  if (typeof value === 'number')
    return schema.type === 'number' || !Number.isInteger(value) ? value : BigInt(value);
  if (typeof value === 'string') return textToCel(value, schema.format);
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => toCel(item, schema.items ?? {}) ?? null);
    const listType = schema['x-kubernetes-list-type'];
    if (listType === 'set') return markUnordered(items, []);
    return listType === 'map' ? markUnordered(items, schema['x-kubernetes-list-map-keys'] ?? []) : items;
  }
  const map = new Map<CelValue, CelValue>();
  const additional = schema.additionalProperties;
  for (const [key, child] of Object.entries(value)) {
    const isMap = typeof additional === 'object';
    const childSchema = isMap ? additional : (own(schema.properties, key) ?? {});
    const converted = toCel(child, childSchema);
    const name = isMap ? key : (escapeName(key) ?? key);
    if (converted !== undefined) map.set(name, converted);
  }
  return map;
}

function textToCel(text: string, format: string | undefined): CelValue {
  switch (format) {
    case 'byte':
      return Uint8Array.from(Buffer.from(text, 'base64'));
    case 'duration':
      return parseDuration(text) ?? text;
    case 'date':
      return parseTimestamp(`${text}T00:00:00Z`) ?? text;
    case 'date-time':
      return parseTimestamp(text) ?? text;
    default:
      return text;
  }
}
