/** Faults of a value against its schema, in the words apply reports them with (the answer is a 500). */
import { stringifyExact } from '../api/json.ts';
import { isObject, type Json, type Schema } from '../schema/schema.ts';
import { fieldOf, itemsOf, shapeOf } from '../schema/shape.ts';
import { showPath } from './field-set.ts';
import { itemElement } from './item-element.ts';

/** All faults as one text; undefined when the value fits. */
export function typedErrors(schema: Schema, value: Json): string | undefined {
  const faults: string[] = [];
  check(schema, value, '', faults);
  if (faults.length <= 1) return faults[0];
  return `errors:\n${faults
    .toSorted()
    .map((fault) => `  ${fault}`)
    .join('\n')}`;
}

function check(schema: Schema, value: Json, path: string, faults: string[]): void {
  if (value === null) return;
  const prefix = path === '' ? '' : `${path}: `;
  if (schema['x-kubernetes-int-or-string']) {
    if (typeof value === 'object') faults.push(`${prefix}expected any scalar, got ${show(value)}`);
    return;
  }
  switch (schema.type) {
    case 'object':
      if (!isObject(value)) faults.push(`${prefix}expected map, got &{${show(value)}}`);
      else checkMap(schema, value, path, faults);
      return;
    case 'array':
      if (!Array.isArray(value)) faults.push(`${prefix}expected list, got &{${show(value)}}`);
      else checkList(schema, value, path, faults);
      return;
    case 'integer':
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint')
        faults.push(`${prefix}expected numeric (int or float), got ${goType(value)}`);
      return;
    case 'boolean':
      if (typeof value !== 'boolean') faults.push(`${prefix}expected boolean, got ${goType(value)}`);
      return;
    case 'string':
      if (typeof value !== 'string')
        faults.push(`${prefix}expected string, got &value.valueUnstructured{Value:${show(value)}}`);
      return;
    default:
      if (isObject(value)) checkMap(schema, value, path, faults);
  }
}

function checkMap(schema: Schema, value: { [key: string]: Json }, path: string, faults: string[]): void {
  for (const [key, child] of Object.entries(value)) {
    const field = fieldOf(schema, key);
    if (field === undefined) faults.push(`${path}.${key}: field not declared in schema`);
    else check(field.schema, child, `${path}.${key}`, faults);
  }
}

function checkList(schema: Schema, items: readonly Json[], path: string, faults: string[]): void {
  const keyed = shapeOf(schema, null) === 'list';
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    let at = `${path}[${index}]`;
    if (keyed) {
      const element = itemElement(schema, item);
      if (typeof element !== 'string') {
        faults.push(`${path}: element ${index}: ${element.fault}`);
        continue;
      }
      at = `${path}${showPath([element])}`;
      if (seen.has(element)) {
        faults.push(`${path}: duplicate entries for key ${showPath([element])}`);
        continue;
      }
      seen.add(element);
    }
    check(itemsOf(schema), item, at, faults);
  }
}

function goType(value: Json): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

function show(value: Json): string {
  return stringifyExact(value);
}
