/**
 * Reads ownership of an older schema with the current one: where a list or map has become atomic since, the owner of
 * a part now owns the whole.
 */
import type { Schema } from '../schema/schema.ts';
import { fieldOrAnything, itemsOf, shapeOf } from '../schema/shape.ts';
import { FieldSet } from './field-set.ts';
import type { Manager } from './managed-fields.ts';

export function fitToSchema(managers: Map<string, Manager>, schema: Schema): Map<string, Manager> {
  for (const [key, manager] of managers) {
    const fields = fitted(manager.fields, schema);
    if (fields !== manager.fields) managers.set(key, { ...manager, fields });
  }
  return managers;
}

/** The same set when nothing has to change, which is nearly always. */
function fitted(set: FieldSet, schema: Schema): FieldSet {
  let members = set.members;
  let children = set.children;
  for (const [element, below] of set.children) {
    const isField = element.startsWith('f:');
    const inner = isField ? fieldOrAnything(schema, element.slice(2)).schema : itemsOf(schema);
    // What has no type of its own says by its values whether it is a map; ownership below it stands.
    const isWhole = shapeOf(inner, {}) === 'leaf';
    const fit = isWhole ? undefined : fitted(below, inner);
    if (fit === below) continue;
    if (children === set.children) children = new Map(set.children);
    if (fit === undefined) {
      children.delete(element);
      members = new Set(members).add(element);
    } else {
      children.set(element, fit);
    }
  }
  return children === set.children ? set : new FieldSet(members, children);
}
