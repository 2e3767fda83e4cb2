/** Lists of type set or map hold no two equal items. */

import type { FieldFault } from '../../api/errors.ts';
import { stringifyExact } from '../../api/json.ts';
import { isObject, type Json, type JsonObject, jsonEqual, own, type Schema } from '../../schema/schema.ts';
import { itemKeys } from '../../schema/shape.ts';
import { duplicateValue } from './faults.ts';

/** A list that is the same as before is not checked again. */
export function validateLists(value: Json, schema: Schema, old?: Json, path = ''): FieldFault[] {
  if (old !== undefined && jsonEqual(value, old)) return [];
  if (Array.isArray(value)) {
    const inside = value.flatMap((item, index) =>
      schema.items ? validateLists(item, schema.items, undefined, `${path}[${index}]`) : [],
    );
    return [...duplicates(value, schema, path), ...inside];
  }
  if (!isObject(value)) return [];
  const before = isObject(old) ? old : {};
  return Object.entries(value).flatMap(([key, child]) => {
    const additional =
      typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    const known = own(schema.properties, key);
    const at = known ? (path === '' ? key : `${path}.${key}`) : `${path}[${key}]`;
    const childSchema = known ?? additional;
    return childSchema ? validateLists(child, childSchema, own(before, key), at) : [];
  });
}

function duplicates(items: readonly Json[], schema: Schema, path: string): FieldFault[] {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'set' && listType !== 'map') return [];
  const seen = new Set<string>();
  const faults: FieldFault[] = [];
  for (const [index, item] of items.entries()) {
    const key = listType === 'map' && isObject(item) ? (itemKeys(schema, item) as JsonObject) : item;
    const text = stringifyExact(key);
    if (seen.has(text)) faults.push(duplicateValue(`${path}[${index}]`, key));
    seen.add(text);
  }
  return faults;
}
