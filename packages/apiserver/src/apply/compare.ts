/**
 * What changed between two values of one schema: the paths added, modified and removed.
 * A part that appears as a whole counts itself and everything in it; a leaf counts itself.
 */
import { isObject, type Json, type JsonObject, jsonEqual, own, type Schema } from '../schema/schema.ts';
import { fieldOrAnything, itemsOf, shapeOf } from '../schema/shape.ts';
import { FieldSet, fieldElement, type Path } from './field-set.ts';
import { itemElement } from './item-element.ts';

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export function compare(schema: Schema, before: Json, after: Json): Comparison {
  const comparison = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() };
  compareValue(schema, before, after, [], comparison);
  return comparison;
}

function compareValue(
  schema: Schema,
  before: Json | undefined,
  after: Json | undefined,
  path: Path,
  found: Comparison,
): void {
  if (before === after) return;
  const shape = shapeOf(schema, after ?? before);
  const isLeaf =
    shape === 'leaf' || (isEmpty(before) && isEmpty(after)) || !fits(shape, before) || !fits(shape, after);
  if (isLeaf) {
    if (before === undefined) found.added.insert(path);
    else if (after === undefined) found.removed.insert(path);
    else if (!jsonEqual(before, after)) found.modified.insert(path);
    return;
  }
  if (shape === 'list') compareItems(schema, (before ?? []) as Json[], (after ?? []) as Json[], path, found);
  else compareKeys(schema, (before ?? {}) as JsonObject, (after ?? {}) as JsonObject, path, found);
  if (before === undefined) found.added.insert(path);
  else if (after === undefined) found.removed.insert(path);
}

function fits(shape: 'list' | 'map', value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return shape === 'list' ? Array.isArray(value) : isObject(value);
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object') return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

function compareKeys(
  schema: Schema,
  before: JsonObject,
  after: JsonObject,
  path: Path,
  found: Comparison,
): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const field = fieldOrAnything(schema, key);
    compareValue(field.schema, own(before, key), own(after, key), [...path, fieldElement(key)], found);
  }
}

function compareItems(
  schema: Schema,
  before: readonly Json[],
  after: readonly Json[],
  path: Path,
  found: Comparison,
): void {
  const ours = indexItems(schema, before);
  const theirs = indexItems(schema, after);
  for (const element of new Set([...ours.keys(), ...theirs.keys()])) {
    const left = ours.get(element) ?? [];
    const right = theirs.get(element) ?? [];
    const at = [...path, element];
    if (left.length <= 1 && right.length <= 1) compareValue(itemsOf(schema), left[0], right[0], at, found);
    else if (!jsonEqual(left, right)) found.modified.insert(at);
  }
}

/** Items by their path element. Stored lists may hold duplicates; they are compared as one. */
export function indexItems(schema: Schema, items: readonly Json[]): Map<string, Json[]> {
  const index = new Map<string, Json[]>();
  for (const [position, item] of items.entries()) {
    const element = itemElement(schema, item);
    const name = typeof element === 'string' ? element : `i:${position}`;
    const same = index.get(name);
    if (same) same.push(item);
    else index.set(name, [item]);
  }
  return index;
}
