/**
 * How a value is read through its schema: as a leaf owned whole, as a list of keyed items, or as a map.
 * Without a schema (content that is kept unknown) the value itself decides: maps are granular, lists are leaves.
 */
import { objectMetaSchema } from './builtin-schemas.ts';
import { isObject, type Json, type JsonObject, own, type Schema } from './schema.ts';

/** The schema of content about which nothing is said. */
export const anything: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

export type Shape = 'leaf' | 'list' | 'map';

export function shapeOf(schema: Schema, value: Json | undefined): Shape {
  if (schema['x-kubernetes-map-type'] === 'atomic') return 'leaf';
  switch (schema.type) {
    case 'object':
      return 'map';
    case 'array': {
      const listType = schema['x-kubernetes-list-type'] ?? 'atomic';
      return listType === 'atomic' ? 'leaf' : 'list';
    }
    case undefined:
    case '':
      if (schema['x-kubernetes-int-or-string']) return 'leaf';
      return isObject(value) ? 'map' : 'leaf';
    default:
      return 'leaf';
  }
}

export interface Field {
  readonly schema: Schema;
  /** Declared by name: a struct field rather than a key of a map. */
  readonly named: boolean;
}

const stringField: Field = { schema: { type: 'string' }, named: true };

/** The schema of one key; undefined when the schema has no place for it. */
export function fieldOf(schema: Schema, key: string): Field | undefined {
  const property = own(schema.properties, key);
  if (property) return { schema: property, named: true };
  if (schema['x-kubernetes-embedded-resource']) {
    if (key === 'apiVersion' || key === 'kind') return stringField;
    if (key === 'metadata') return { schema: objectMetaSchema(), named: true };
  }
  const additional = schema.additionalProperties;
  if (typeof additional === 'object') return { schema: additional, named: false };
  if (additional === true || schema['x-kubernetes-preserve-unknown-fields'])
    return { schema: anything, named: false };
  if (schema.type === undefined || schema.type === '') return { schema: anything, named: false };
  return undefined;
}

/** As `fieldOf`, for walks over values that were accepted before: what has no schema is read as anything. */
export function fieldOrAnything(schema: Schema, key: string): Field {
  return fieldOf(schema, key) ?? { schema: anything, named: false };
}

export function itemsOf(schema: Schema): Schema {
  return schema.items ?? anything;
}

/** The key fields of a list item, a missing one filled from its default. */
export function itemKeys(listSchema: Schema, item: JsonObject): { [key: string]: Json | undefined } {
  const properties = listSchema.items?.properties ?? {};
  const keys: { [key: string]: Json | undefined } = {};
  for (const key of (listSchema['x-kubernetes-list-map-keys'] ?? []).toSorted())
    keys[key] = own(item, key) ?? own(properties, key)?.default;
  return keys;
}

/** The schema of a custom resource as a whole object: what the CRD says, and the parts every object has. */
export function customResourceSchema(schema: Schema | undefined): Schema {
  const root: Schema = schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    ...root,
    properties: {
      ...root.properties,
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: objectMetaSchema(),
    },
  };
}
