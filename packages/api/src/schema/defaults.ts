/**
 * Fills in what a manifest leaves out, exactly as the API server does: a `null` that the schema does not allow
 * is dropped, then every absent field with a default gets it, and the fields of that default in turn.
 */

import type { Static } from 'typebox';
import { rootSchema } from './crd.ts';
import type { KindDefinition } from './kind.ts';
import type { StructuralSchema } from './structural.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Returns a new value; the given one is left alone. */
export function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  const copy = structuredClone(value) as Json;
  fill(schema, copy);
  return copy;
}

function fill(schema: StructuralSchema, value: Json): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) fill(schema.items, item);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (value[name] === null && field.nullable !== true) delete value[name];
    if (value[name] === undefined && field.default !== undefined)
      value[name] = structuredClone(field.default) as Json;
    const child = value[name];
    if (child !== undefined) fill(field, child);
  }
  if (schema.additionalProperties !== undefined)
    for (const [name, item] of Object.entries(value))
      if (schema.properties?.[name] === undefined) fill(schema.additionalProperties, item);
}

/** A definition never changes, and its schema costs more than filling in an object. */
const schemas = new WeakMap<KindDefinition, StructuralSchema>();

function schemaOf(definition: KindDefinition): StructuralSchema {
  const known = schemas.get(definition) ?? rootSchema(definition);
  schemas.set(definition, known);
  return known;
}

/**
 * Returns a copy of the object with every default filled in, as the API server would store it. The object must
 * have the shape of its kind; that is the API server's to check.
 */
export function applyDefaults<D extends KindDefinition, O extends { readonly spec: object }>(
  definition: D,
  object: O,
): Omit<O, 'spec'> & { spec: Static<D['spec']> } {
  return withDefaults(schemaOf(definition), object) as Omit<O, 'spec'> & { spec: Static<D['spec']> };
}
