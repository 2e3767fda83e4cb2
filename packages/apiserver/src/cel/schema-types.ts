/** Between schemas and expressions: the type of a schema, and a JSON value as an expression sees it. */
import { parseDuration } from '@slurm-operator/kubernetes-values';
import { type Json, own, type Schema } from '../schema/schema.ts';
import { parseTimestamp } from './time.ts';
import { bool, type CelType, double, dyn, int, listOf, mapOf, string } from './types.ts';
import { type CelValue, Duration, markUnordered } from './values.ts';

/** The largest request the server takes; nothing in it can be larger. */
const largestRequest = 3 * 1024 * 1024;

const longestText: CelType = { ...string, max: largestRequest - 2 };
const metadataFields = new Map<string, CelType>([
  ['name', longestText],
  ['generateName', longestText],
]);
const metadataType: CelType = { kind: 'object', name: 'object.metadata', fields: metadataFields, max: 0 };

/**
 * Undefined for content no rule can look into. `isRoot` adds apiVersion, kind and the name. Numbers and objects have no
 * size (`max` 0): comparing them costs nothing.
 */
export function schemaType(schema: Schema, isRoot: boolean, name = 'object'): CelType | undefined {
  if (schema['x-kubernetes-int-or-string']) return { ...dyn, max: longest({ ...schema, enum: [] }) };
  switch (schema.type) {
    case 'array': {
      const item =
        schema.items &&
        schemaType(schema.items, Boolean(schema.items['x-kubernetes-embedded-resource']), `${name}.@idx`);
      if (!item || !schema.items) return undefined;
      return listOf(item, schema.maxItems ?? mostItems(smallestSize(schema.items)));
    }
    case 'object':
      return objectType(schema, isRoot, name);
    case 'string':
      return stringType(schema);
    case 'boolean':
      return { ...bool, max: 0 };
    case 'number':
      return { ...double, max: 0 };
    case 'integer':
      return { ...int, max: 0 };
    default:
      return undefined;
  }
}

function objectType(schema: Schema, isRoot: boolean, name: string): CelType | undefined {
  if (typeof schema.additionalProperties === 'object') {
    const value = schemaType(schema.additionalProperties, false, `${name}.@prop`);
    if (!value) return undefined;
    // Beside each value a key of its own: quotes, colon, comma.
    const most = schema.maxProperties ?? mostItems(smallestSize(schema.additionalProperties) + 5);
    return mapOf({ ...string, max: 0 }, value, most);
  }
  const fields = new Map<string, CelType>();
  for (const [property, child] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(property);
    const type = schemaType(child, Boolean(child['x-kubernetes-embedded-resource']), `${name}.${property}`);
    if (escaped !== undefined && type) fields.set(escaped, type);
  }
  if (isRoot || schema['x-kubernetes-embedded-resource']) {
    fields.set('apiVersion', longestText).set('kind', longestText).set('metadata', metadataType);
  }
  return { kind: 'object', name, fields, max: 0 };
}

/** The most characters of dates and durations, quotes included. */
const longestTime = { date: 12, 'date-time': 32, duration: 32 } as const;

function stringType(schema: Schema): CelType {
  switch (schema.format) {
    case 'byte':
      return { kind: 'bytes', max: schema.maxLength ?? largestRequest - 2 };
    case 'duration':
      return { kind: 'duration', max: longestTime.duration };
    case 'date':
    case 'date-time':
      return { kind: 'timestamp', max: longestTime[schema.format] };
    default:
      return { ...string, max: longest(schema) };
  }
}

function longest(schema: Schema): number {
  if (schema.maxLength !== undefined) return Math.max(0, schema.maxLength) * 4;
  if (schema.enum !== undefined && schema.enum.length > 0)
    return Math.max(
      0,
      ...schema.enum.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)),
    );
  return largestRequest - 2;
}

function mostItems(smallestItem: number): number {
  return Math.floor((largestRequest - 2) / (smallestItem + 1));
}

/** How often a value of the schema can occur in one object when nothing bounds the lists and maps around it. */
export function mostOccurrences(schema: Schema): number {
  return Math.floor(largestRequest / (smallestSize(schema) + 1));
}

/** The fewest bytes a value of the schema takes in a request. */
function smallestSize(schema: Schema): number {
  if (schema['x-kubernetes-int-or-string']) return 1;
  switch (schema.type) {
    case 'boolean':
      return 4;
    case 'number':
    case 'integer':
      return 1;
    case 'string':
      return smallestText[schema.format ?? ''] ?? 2;
    case 'array':
      return 2;
    case 'object': {
      let size = 2;
      if (typeof schema.additionalProperties === 'object') return size;
      for (const name of schema.required ?? []) {
        const child = own(schema.properties, name);
        if (child && child.default === undefined) size += name.length + smallestSize(child) + 4;
      }
      return size;
    }
    default:
      return 0;
  }
}

const smallestText: Readonly<Record<string, number>> = { date: 12, 'date-time': 21, duration: 3 };

/** Null and content without a type are left out: a rule sees them as absent. */
export function toCel(value: Json, schema: Schema): CelValue | undefined {
  if (value === null) return schema.nullable ? null : undefined;
  if (typeof value === 'bigint') return schema.type === 'number' ? Number(value) : value;
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
    case 'duration': {
      const nanos = parseDuration(text);
      return nanos === undefined ? text : new Duration(nanos);
    }
    case 'date':
      return parseTimestamp(`${text}T00:00:00Z`) ?? text;
    case 'date-time':
      return parseTimestamp(text) ?? text;
    default:
      return text;
  }
}

/** Property names as expressions write them: what is no identifier is spelled out. */

const keywords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const spelled: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** Undefined for names that cannot be written. */
export function escapeName(name: string): string | undefined {
  if (keywords.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[./-]/g, (part) => spelled[part] ?? part);
}
