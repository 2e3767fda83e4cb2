/**
 * Strategic merge patch: a merge patch in which lists with a merge key merge by it, with the directives $patch,
 * $retainKeys, $setElementOrder/… and $deleteFromPrimitiveList/….
 */
import { clone, equal, isObject, stringifyExact } from '../api/json.ts';
import type { Schema } from '../schema/schema.ts';

type Value = Record<string, unknown>;

const directive = '$patch';
const retainKeys = '$retainKeys';
const elementOrder = '$setElementOrder/';
const primitiveDeletes = '$deleteFromPrimitiveList/';

/** A patch that says something the schema cannot follow. */
export class StrategicMergeError extends Error {
  override readonly name = 'StrategicMergeError';
}

/** The patched object; neither argument is changed. */
export function strategicMerge(target: unknown, patch: unknown, schema: Schema | undefined): unknown {
  return isObject(patch) ? mergeObject(isObject(target) ? target : {}, patch, schema) : clone(patch);
}

function mergeObject(target: Value, patch: Value, schema: Schema | undefined): Value {
  const order = patch[directive];
  if (order === 'replace') return withoutDirectives(patch);
  if (order === 'delete') return {};
  if (order !== undefined && order !== 'merge')
    throw new StrategicMergeError(`unknown patch type: ${goFormat(order)} in map: ${goFormat(patch)}`);
  const result: Value = { ...target };
  retain(result, patch);
  for (const [key, value] of Object.entries(patch)) {
    if (key === directive || key === retainKeys || key.startsWith(elementOrder)) continue;
    if (key.startsWith(primitiveDeletes)) {
      const field = key.slice(primitiveDeletes.length);
      const gone = Array.isArray(value) ? value : [];
      const list = result[field];
      if (Array.isArray(list)) result[field] = list.filter((item) => !gone.some((one) => equal(one, item)));
    } else if (value === null) delete result[key];
    else
      result[key] = mergeField(result[key], value, fieldSchema(schema, key), patch[`${elementOrder}${key}`]);
  }
  for (const [key, order_] of Object.entries(patch)) {
    const field = key.slice(elementOrder.length);
    const list = result[field];
    if (key.startsWith(elementOrder) && !(field in patch) && Array.isArray(list))
      result[field] = ordered(
        list,
        Array.isArray(target[field]) ? target[field] : [],
        order_,
        mergeKey(fieldSchema(schema, field)),
      );
  }
  return result;
}

function mergeField(target: unknown, value: unknown, schema: Schema | undefined, order: unknown): unknown {
  const strategy = schema?.['x-kubernetes-patch-strategy'] ?? '';
  if (Array.isArray(value)) {
    const list = Array.isArray(target) ? target : [];
    if (!strategy.includes('merge') || schema === undefined) return withoutItemDirectives(value);
    if (Array.isArray(order)) checkOrder(value, order, mergeKey(schema));
    const merged = mergeList(list, value, schema);
    // Without an order of its own, a patch is one: what it adds comes before what it does not know.
    return ordered(merged, list, order ?? value, mergeKey(schema));
  }
  if (!isObject(value)) return value;
  if (strategy === 'replace' || schema?.['x-kubernetes-preserve-unknown-fields'] === true)
    return clone(value);
  return mergeObject(isObject(target) ? target : {}, value, schema);
}

/** $setElementOrder must name what the patch brings, in the same order. */
function checkOrder(patch: readonly unknown[], order: readonly unknown[], key: string | undefined): void {
  const identity = (item: unknown) => (key !== undefined && isObject(item) ? item[key] : item);
  let at = 0;
  for (const item of patch) {
    if (isObject(item) && item[directive] !== undefined) continue;
    while (at < order.length && !equal(identity(order[at]), identity(item))) at += 1;
    if (at === order.length)
      throw new StrategicMergeError(
        `The order in patch list:\n${goFormat(patch)}\n doesn't match ${elementOrder.slice(0, -1)} list:\n${goFormat(order)}\n`,
      );
  }
}

function mergeList(target: readonly unknown[], patch: readonly unknown[], schema: Schema): unknown[] {
  if (patch.some((item) => isObject(item) && item[directive] === 'replace'))
    return patch
      .filter((item) => !(isObject(item) && item[directive] === 'replace' && Object.keys(item).length === 1))
      .map((item) => (isObject(item) ? withoutDirectives(item) : item));
  const key = mergeKey(schema);
  if (key === undefined)
    return [...target, ...patch.filter((item) => !target.some((one) => equal(one, item)))];
  let result = [...target];
  for (const item of patch) {
    if (!isObject(item)) continue;
    const value = item[key];
    if (value === undefined)
      throw new StrategicMergeError(`map: ${goFormat(item)} does not contain declared merge key: ${key}`);
    const at = result.findIndex((one) => isObject(one) && equal(one[key], value));
    if (item[directive] === 'delete')
      result = result.filter((one) => !(isObject(one) && equal(one[key], value)));
    else if (at < 0) result.push(mergeObject({}, item, schema.items));
    else result[at] = mergeObject(result[at] as Value, item, schema.items);
  }
  return result;
}

/**
 * The items that $setElementOrder names stand in its order; those it does not know keep their places among them as far
 * as the old list tells.
 */
function ordered(
  merged: readonly unknown[],
  before: readonly unknown[],
  order: unknown,
  key: string | undefined,
): unknown[] {
  if (!Array.isArray(order)) return [...merged];
  const identity = (item: unknown) => (key !== undefined && isObject(item) ? item[key] : item);
  const indexIn = (list: readonly unknown[], item: unknown) =>
    list.findIndex((one) => equal(identity(one), identity(item)));
  const wanted = order as readonly unknown[];
  const named = merged
    .filter((item) => indexIn(wanted, item) >= 0)
    .toSorted((a, b) => indexIn(wanted, a) - indexIn(wanted, b));
  const others = merged.filter((item) => indexIn(wanted, item) < 0);
  const result: unknown[] = [];
  while (others.length > 0 || named.length > 0) {
    const [other] = others;
    const [name] = named;
    const otherAt = indexIn(before, other);
    const nameAt = indexIn(before, name);
    const otherFirst =
      named.length === 0 || (others.length > 0 && otherAt >= 0 && nameAt >= 0 && otherAt < nameAt);
    result.push(otherFirst ? others.shift() : named.shift());
  }
  return result;
}

function retain(result: Value, patch: Value): void {
  const keep = patch[retainKeys];
  if (!Array.isArray(keep)) return;
  for (const key of Object.keys(result)) if (!keep.includes(key)) delete result[key];
}

function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  const additional = schema?.additionalProperties;
  return schema?.properties?.[key] ?? (typeof additional === 'object' ? additional : undefined);
}

function mergeKey(schema: Schema | undefined): string | undefined {
  return schema?.['x-kubernetes-patch-merge-key'];
}

function withoutDirectives(value: Value): Value {
  const copy = clone(value);
  for (const key of Object.keys(copy)) if (key.startsWith('$')) delete copy[key];
  return copy;
}

function withoutItemDirectives(list: readonly unknown[]): unknown[] {
  return list
    .filter((item) => !(isObject(item) && item[directive] === 'delete'))
    .map((item) => (isObject(item) ? withoutDirectives(item) : clone(item)));
}

/** As Go prints a value that came from JSON: `map[a:1 b:[x y]]`. */
export function goFormat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`;
  if (!isObject(value))
    return typeof value === 'string' ? value : value === null ? '<nil>' : stringifyExact(value);
  const keys = Object.keys(value).toSorted();
  return `map[${keys.map((key) => `${key}:${goFormat(value[key])}`).join(' ')}]`;
}
