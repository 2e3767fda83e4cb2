/** A value without the fields and items a set names. What becomes empty on the way becomes null. */
import { isObject, type Json, type JsonObject, type Schema } from '../schema/schema.ts';
import { fieldOrAnything, itemsOf, shapeOf } from '../schema/shape.ts';
import { type FieldSet, fieldElement } from './field-set.ts';
import { itemElement } from './item-element.ts';

export function removeItems(schema: Schema, value: Json, remove: FieldSet): Json {
  const shape = shapeOf(schema, value);
  if (shape === 'list' && Array.isArray(value)) return removeFromList(schema, value, remove);
  if (shape === 'map' && isObject(value)) return removeFromMap(schema, value, remove);
  if (shape === 'leaf' && (typeof value !== 'object' || value === null)) return value;
  // Something inside a part that is owned whole was named: the part goes.
  return null;
}

function removeFromList(schema: Schema, items: readonly Json[], remove: FieldSet): Json {
  const kept: Json[] = [];
  for (const [position, item] of items.entries()) {
    const named = itemElement(schema, item);
    const element = typeof named === 'string' ? named : `i:${position}`;
    if (remove.members.has(element)) continue;
    const below = remove.below(element);
    kept.push(below.empty ? item : removeItems(itemsOf(schema), item, below));
  }
  return kept.length > 0 ? kept : null;
}

function removeFromMap(schema: Schema, value: JsonObject, remove: FieldSet): Json {
  const kept: JsonObject = {};
  for (const [key, child] of Object.entries(value)) {
    const element = fieldElement(key);
    if (remove.members.has(element)) continue;
    const below = remove.below(element);
    kept[key] = below.empty ? child : removeItems(fieldOrAnything(schema, key).schema, child, below);
  }
  return Object.keys(kept).length > 0 ? kept : null;
}
