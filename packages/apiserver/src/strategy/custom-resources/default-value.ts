/** Fills in schema defaults, in place. A null counts as missing unless the field may be null. */
import { clone } from '../../api/json.ts';
import { isObject, type Json, type JsonObject, type Schema } from '../../schema/schema.ts';
import { fieldOf } from '../../schema/shape.ts';

/** With `keepNulls`, a null that may not be is left for validation to refuse. */
export function defaultValue(value: Json, schema: Schema, keepNulls = false): void {
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) defaultValue(item, schema.items, keepNulls);
  } else if (isObject(value)) {
    defaultObject(value, schema, keepNulls);
  }
}

function defaultObject(value: JsonObject, schema: Schema, keepNulls: boolean): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const current = value[name];
    const isMissing = current === undefined || (current === null && property.nullable !== true);
    if (isMissing && property.default !== undefined) value[name] = clone(property.default);
    // What may not be null and has nothing to stand in for it is left out.
    else if (isMissing && current === null && hasType(property) && !keepNulls) delete value[name];
    const now = value[name];
    if (now !== undefined) defaultValue(now, property, keepNulls);
  }
  const additional = schema.additionalProperties;
  if (typeof additional !== 'object') return;
  for (const [key, child] of Object.entries(value)) {
    if (schema.properties?.[key]) continue;
    if (child === null && additional.nullable !== true && additional.default !== undefined)
      value[key] = clone(additional.default);
    defaultValue(value[key] ?? null, additional, keepNulls);
  }
}

function hasType(schema: Schema): boolean {
  return (schema.type !== undefined && schema.type !== '') || schema['x-kubernetes-int-or-string'] === true;
}

/** Drops what the schema does not know, in place. */
export function pruneValue(value: Json, schema: Schema): void {
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) pruneValue(item, schema.items);
    return;
  }
  if (!isObject(value)) return;
  // Without a type nothing is known about what is inside.
  if (schema.type !== 'object' && schema.properties === undefined) return;
  for (const [key, child] of Object.entries(value)) {
    const field = fieldOf(schema, key);
    if (field === undefined) delete value[key];
    else pruneValue(child, field.schema);
  }
}
