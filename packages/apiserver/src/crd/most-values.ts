/** How many items or entries one value of a schema can hold at most. */
import { schemaType } from '../cel/schema-types.ts';
import type { Schema } from '../schema/schema.ts';

export function mostValues(schema: Schema): number {
  if (schema.type === 'array' && schema.maxItems !== undefined) return schema.maxItems;
  if (schema.type === 'object' && schema.maxProperties !== undefined) return schema.maxProperties;
  return schemaType(schema, false)?.max ?? 1;
}
