/** Drops what the schema does not know, in place. */
import { isObject, type Json, type Schema } from '../../schema/schema.ts';
import { fieldOf } from '../../schema/shape.ts';

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
