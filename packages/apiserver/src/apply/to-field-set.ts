/** The fields of an applied configuration: what its applier will own. */
import { isObject, type Json, type Schema } from '../schema/schema.ts';
import { fieldOrAnything, itemsOf, shapeOf } from '../schema/shape.ts';
import { FieldSet, fieldElement, type Path } from './field-set.ts';
import { itemElement } from './item-element.ts';

export function toFieldSet(schema: Schema, value: Json): FieldSet {
  const set = new FieldSet();
  collect(schema, value, [], set);
  return set;
}

function collect(schema: Schema, value: Json, path: Path, set: FieldSet): void {
  const shape = shapeOf(schema, value);
  if (shape === 'leaf') {
    set.insert(path);
  } else if (shape === 'list') {
    if (!Array.isArray(value)) return;
    for (const [position, item] of value.entries()) {
      const element = itemElement(schema, item);
      const at = [...path, typeof element === 'string' ? element : `i:${position}`];
      collect(itemsOf(schema), item, at, set);
      set.insert(at);
    }
  } else if (isObject(value)) {
    for (const [key, child] of Object.entries(value)) {
      const field = fieldOrAnything(schema, key);
      const at = [...path, fieldElement(key)];
      collect(field.schema, child, at, set);
      // Keys of maps are things of their own; so is a field that is set to nothing.
      if (!field.named || child === null || (isObject(child) && Object.keys(child).length === 0))
        set.insert(at);
    }
  }
}

/** The set with every declared field on the way to a member made a member too. */
export function withNamedFields(set: FieldSet, schema: Schema): FieldSet {
  const members = new Set(set.members);
  const children = new Map<string, FieldSet>();
  for (const [element, below] of set.children) {
    if (below.empty) continue;
    if (element.startsWith('f:')) {
      const field = fieldOrAnything(schema, element.slice(2));
      if (field.named) members.add(element);
      children.set(element, withNamedFields(below, field.schema));
    } else {
      children.set(element, withNamedFields(below, itemsOf(schema)));
    }
  }
  return new FieldSet(members, children);
}
