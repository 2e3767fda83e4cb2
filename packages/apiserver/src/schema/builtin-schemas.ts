/**
 * Schemas of built-in kinds, made on first use from the generated table of types and our table of merge rules.
 * Each type is one object, shared by all that refer to it; the graph may be cyclic.
 */
import { type BuiltinKind, builtinKinds } from './builtin-kinds.ts';
import { builtinTypes } from './generated/builtin-types.ts';
import {
  atomicMaps,
  atomicTypes,
  keyDefaults,
  listRules,
  patchStrategies,
  quantities,
} from './merge-rules.ts';
import type { JsonObject, Schema } from './schema.ts';

export interface BuiltinSchema {
  readonly schema: Schema;
  /** The object before anything was set; see builtin-kinds.ts. */
  readonly blank: JsonObject;
}

const types = new Map<string, Schema>();
const kinds = new Map(builtinKinds.map((kind) => [keyOf(kind), kind]));

export function builtinSchema(group: string, version: string, kind: string): BuiltinSchema | undefined {
  const known = kinds.get(keyOf({ group, version, kind }));
  return known && { schema: typeSchema(known.type), blank: known.blank };
}

/** The schema of ObjectMeta, which every object has. */
export function objectMetaSchema(): Schema {
  return typeSchema('V1ObjectMeta');
}

function keyOf({ group, version, kind }: Pick<BuiltinKind, 'group' | 'version' | 'kind'>): string {
  return `${group}/${version}/${kind}`;
}

function typeSchema(name: string): Schema {
  const made = types.get(name);
  if (made) return made;
  const fields = builtinTypes[name];
  if (fields === undefined) throw new Error(`the table of built-in types has no ${name}`);
  const schema: Schema = { type: 'object', 'x-type-name': name };
  types.set(name, schema);
  if (atomicTypes.has(name)) schema['x-kubernetes-map-type'] = 'atomic';
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const field of fields === '' ? [] : fields.split(' ')) {
    const [head, type] = splitOnce(field, ':');
    const isRequired = head.endsWith('!');
    const property = isRequired ? head.slice(0, -1) : head;
    if (isRequired) required.push(property);
    properties[property] = fieldSchema(`${name}.${property}`, type);
  }
  schema.properties = properties;
  if (required.length > 0) schema.required = required;
  return schema;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + 1)];
}

function fieldSchema(path: string, type: string): Schema {
  if (type.startsWith('[]')) return listSchema(path, type.slice(2));
  if (type.startsWith('{}')) {
    const value = quantities.has(path) ? quantitySchema() : fieldSchema('', type.slice(2));
    const schema: Schema = { type: 'object', additionalProperties: value };
    if (atomicMaps.has(path)) schema['x-kubernetes-map-type'] = 'atomic';
    return schema;
  }
  if (quantities.has(path)) return quantitySchema();
  const schema = scalarSchema(type) ?? typeSchema(type);
  const strategy = patchStrategies[path];
  if (strategy !== undefined) return { ...schema, 'x-kubernetes-patch-strategy': strategy };
  const fallback = keyDefaults[path];
  return fallback === undefined ? schema : { ...schema, default: fallback };
}

function listSchema(path: string, itemType: string): Schema {
  const schema: Schema = { type: 'array', items: fieldSchema('', itemType) };
  const [lists = 'atomic', patch] = (listRules[path] ?? 'atomic').split(' / ');
  const [listType, ...keys] = lists.split(' ');
  schema['x-kubernetes-list-type'] = listType as 'atomic' | 'set' | 'map';
  if (keys.length > 0) schema['x-kubernetes-list-map-keys'] = keys;
  if (patch !== undefined) {
    const [strategy, mergeKey] = patch.split(' ');
    if (strategy !== undefined) schema['x-kubernetes-patch-strategy'] = strategy;
    if (mergeKey !== undefined) schema['x-kubernetes-patch-merge-key'] = mergeKey;
  }
  return schema;
}

function quantitySchema(): Schema {
  return { 'x-kubernetes-int-or-string': true, format: 'quantity' };
}

function scalarSchema(type: string): Schema | undefined {
  switch (type) {
    case 'string':
      return { type: 'string' };
    case 'byte':
    case 'date-time':
    case 'date-time-micro':
      return { type: 'string', format: type };
    case 'boolean':
      return { type: 'boolean' };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: type };
    case 'double':
      return { type: 'number', format: type };
    case 'int-or-string':
      return { 'x-kubernetes-int-or-string': true, format: type };
    case 'any':
      // Free content is owned whole.
      return { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-map-type': 'atomic' };
    default:
      return undefined;
  }
}
