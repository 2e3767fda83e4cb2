/** The path element that names one item of a keyed list or a set. */
import { stringifyExact } from '../api/json.ts';
import { isObject, type Json, type Schema } from '../schema/schema.ts';
import { itemKeys } from '../schema/shape.ts';
import { keyElement, valueElement } from './field-set.ts';

export interface ItemFault {
  readonly fault: string;
}

export function itemElement(listSchema: Schema, item: Json): string | ItemFault {
  if (listSchema['x-kubernetes-list-type'] === 'set') {
    if (item === null) return { fault: 'associative list with keys may not have null elements' };
    if (typeof item === 'object') return { fault: 'list type set needs scalar items' };
    return valueElement(item);
  }
  if (!isObject(item)) return { fault: 'associative list with keys may not have non-map elements' };
  const keys = itemKeys(listSchema, item);
  const missing = Object.keys(keys).filter((key) => keys[key] === undefined);
  if (missing.length > 0 && missing.length === Object.keys(keys).length)
    return {
      fault: `associative list with keys has an element that omits key field ${missing
        .map((key) => stringifyExact(key))
        .join(', ')} (and doesn't have default value)`,
    };
  return keyElement(keys);
}
