/**
 * The live value with an applied configuration laid over it. Maps merge by key and keyed lists by item; leaves take
 * the applied value. Order in lists: items both know follow the applied order, the others keep their neighbours.
 */
import { isObject, type Json, type JsonObject, own, type Schema } from '../schema/schema.ts';
import { fieldOrAnything, itemsOf, shapeOf } from '../schema/shape.ts';
import { indexItems } from './compare.ts';
import { type FieldSet, fieldElement } from './field-set.ts';
import { itemElement } from './item-element.ts';

export function merge(schema: Schema, live: Json | undefined, applied: Json | undefined): Json {
  if (applied === undefined) return live ?? null;
  if (live === undefined) return applied;
  const shape = shapeOf(schema, applied ?? live);
  if (shape === 'leaf') return applied;
  if (shape === 'list') {
    const ours = Array.isArray(live) ? live : [];
    const theirs = Array.isArray(applied) ? applied : [];
    if (ours.length === 0 && theirs.length === 0) return applied;
    return mergeLists(schema, ours, theirs);
  }
  const ours = isObject(live) ? live : {};
  const theirs = isObject(applied) ? applied : {};
  if (Object.keys(ours).length === 0 && Object.keys(theirs).length === 0) return applied;
  return mergeMaps(schema, ours, theirs);
}

function mergeMaps(schema: Schema, live: JsonObject, applied: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const key of new Set([...Object.keys(live), ...Object.keys(applied)]))
    out[key] = merge(fieldOrAnything(schema, key).schema, own(live, key), own(applied, key));
  return out;
}

function mergeLists(schema: Schema, live: readonly Json[], applied: readonly Json[]): Json[] {
  const ourNames = live.map((item, index) => elementOr(schema, item, index));
  const theirNames = applied.map((item, index) => elementOr(schema, item, index));
  const ours = indexItems(schema, live);
  const theirs = new Map(theirNames.map((name, index) => [name, applied[index] as Json]));
  const shared = theirNames.filter((name) => ours.has(name));
  const merged = new Set<string>();
  const out: Json[] = [];
  const take = (name: string): void => {
    const same = ours.get(name) ?? [];
    // A stored duplicate has no one item to merge with.
    out.push(merge(itemsOf(schema), same.length === 1 ? same[0] : undefined, theirs.get(name)));
    merged.add(name);
    if (shared[0] === name) shared.shift();
  };
  let left = 0;
  let right = 0;
  while (left < live.length || right < applied.length) {
    const ourName = ourNames[left];
    const theirName = theirNames[right];
    if (ourName !== undefined && theirName !== undefined) {
      if (ourName === theirName) {
        take(ourName);
        left += 1;
        right += 1;
        continue;
      }
      // Both know it, but the applied order wants another shared item first.
      if (theirs.has(ourName) && shared[0] !== undefined && shared[0] !== ourName) {
        left += 1;
        continue;
      }
    }
    if (ourName !== undefined) {
      if (!theirs.has(ourName)) {
        out.push(live[left] as Json);
        left += 1;
        continue;
      }
      if (merged.has(ourName)) left += 1;
    }
    if (theirName !== undefined) {
      take(theirName);
      right += 1;
    }
  }
  return out;
}

function elementOr(schema: Schema, item: Json, index: number): string {
  const element = itemElement(schema, item);
  return typeof element === 'string' ? element : `i:${index}`;
}

/** A value without the fields and items a set names. What becomes empty on the way becomes null. */
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
