/**
 * Schemas as OpenAPI components: types become references by name. Collects what the document's kinds need.
 * Field descriptions of built-in types are not part of it: the table they come from has none.
 */

import { asJson } from '../api/typed.ts';
import type { Json, JsonObject } from '../api/types.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';
import { builtinKinds } from '../schema/builtin-kinds.ts';
import { builtinSchema, objectMetaSchema } from '../schema/builtin-schemas.ts';
import { descriptions } from '../schema/generated/descriptions.ts';
import type { Schema } from '../schema/schema.ts';
import { metaSchemas } from './meta-schemas.ts';

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const metaTypes = new Set([
  'V1ObjectMeta',
  'V1OwnerReference',
  'V1ManagedFieldsEntry',
  'V1LabelSelector',
  'V1LabelSelectorRequirement',
  'V1Condition',
  'V1ListMeta',
  'V1DeleteOptions',
  'V1Preconditions',
  'V1FieldSelectorRequirement',
]);

/** The package a group's types are in, as documents name them. */
function packageOf({ group, version }: Pick<Kind, 'group' | 'version'>): string {
  if (group === 'apiextensions.k8s.io')
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}`;
  if (group === '' || group.endsWith('.k8s.io') || !group.includes('.'))
    return `io.k8s.api.${group === '' ? 'core' : (group.split('.')[0] ?? '')}.${version}`;
  return `${group.split('.').toReversed().join('.')}.${version}`;
}

let core: Set<string> | undefined;

/** Types of the core group, which those of other groups are made of: a StatefulSet has a template for Pods. */
function coreTypes(): ReadonlySet<string> {
  if (core !== undefined) return core;
  const found = new Set<string>();
  const visit = (schema: Schema): void => {
    const type = schema['x-type-name'];
    if (type !== undefined && found.has(type)) return;
    if (type !== undefined) found.add(type);
    for (const child of Object.values(schema.properties ?? {})) visit(child);
    if (schema.items) visit(schema.items);
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties);
  };
  for (const { group, version, kind } of builtinKinds) {
    const schema = group === '' ? builtinSchema(group, version, kind)?.schema : undefined;
    if (schema) visit(schema);
  }
  core = found;
  return found;
}

export class SchemaComponents {
  readonly #schemas: JsonObject = {};
  readonly #names = new Map<string, string>();
  #package = '';

  constructor(isCustom: boolean) {
    // Every document of custom resources names the same types of the machinery.
    if (isCustom)
      for (const [name, schema] of Object.entries(metaSchemas))
        this.#schemas[`${metaPackage}.${name}`] = schema;
    this.#meta();
  }

  schemas(): JsonObject {
    return Object.fromEntries(Object.entries(this.#schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  patch(): JsonObject {
    return { $ref: `#/components/schemas/${metaPackage}.Patch` };
  }

  refTo(kind: Kind): JsonObject {
    return { $ref: `#/components/schemas/${packageOf(kind)}.${kind.kind}` };
  }

  /** The kind of a definition and its list. */
  addKind(definition: ResourceDefinition): void {
    const name = `${packageOf(definition)}.${definition.kind}`;
    if (definition.custom && definition.schema)
      this.#schemas[name] = this.#customKind(definition, definition.schema);
    else this.addNamed(definition);
    if (!definition.verbs.includes('list')) return;
    this.#schemas[`${packageOf(definition)}.${definition.listKind}`] = {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { description: descriptions['V1Pod.apiVersion'], type: 'string' },
        items: { type: 'array', items: this.refTo(definition) },
        kind: { description: descriptions['V1Pod.kind'], type: 'string' },
        metadata: { allOf: [{ $ref: `#/components/schemas/${metaPackage}.ListMeta` }] },
      },
      'x-kubernetes-group-version-kind': [gvk({ ...definition, kind: definition.listKind })],
    };
  }

  /** A built-in kind by its name; nothing when there is no schema for it. */
  addNamed(kind: Kind): void {
    const name = `${packageOf(kind)}.${kind.kind}`;
    if (this.#schemas[name] !== undefined) return;
    const schema = builtinSchema(kind.group, kind.version, kind.kind)?.schema;
    if (schema === undefined) return;
    this.#package = packageOf(kind);
    this.#names.set(schema['x-type-name'] ?? '', name);
    this.#schemas[name] = {};
    this.#schemas[name] = { ...this.#convertType(schema), 'x-kubernetes-group-version-kind': [gvk(kind)] };
  }

  #meta(): void {
    this.#package = metaPackage;
    this.#reference(objectMetaSchema());
    this.#schemas[`${metaPackage}.ListMeta`] ??= metaSchemas['ListMeta'] as JsonObject;
    this.#schemas[`${metaPackage}.Patch`] ??= metaSchemas['Patch'] as JsonObject;
  }

  #customKind(definition: ResourceDefinition, whole: Schema): JsonObject {
    const { properties = {}, ...rest } = whole;
    return {
      ...(rest as JsonObject),
      properties: {
        ...asJson(properties),
        apiVersion: { description: descriptions['V1Pod.apiVersion'], type: 'string' },
        kind: { description: descriptions['V1Pod.kind'], type: 'string' },
        metadata: {
          description:
            "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
          allOf: [{ $ref: `#/components/schemas/${metaPackage}.ObjectMeta` }],
        },
      },
      'x-kubernetes-group-version-kind': [gvk(definition)],
    };
  }

  /** A reference to a named type, whose schema is added on the way. */
  #reference(schema: Schema): JsonObject {
    const type = schema['x-type-name'] ?? '';
    let name = this.#names.get(type);
    if (name === undefined) {
      name = `${this.#packageOfType(type)}.${type.replace(/^[A-Za-z]*?V\d/, '')}`;
      this.#names.set(type, name);
      this.#schemas[name] ??= {};
      this.#schemas[name] = this.#convertType(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #packageOfType(type: string): string {
    if (metaTypes.has(type)) return metaPackage;
    return coreTypes().has(type) ? packageOf({ group: '', version: 'v1' }) : this.#package;
  }

  #convertType(schema: Schema): JsonObject {
    const { 'x-type-name': _, properties = {}, 'x-kubernetes-patch-strategy': __, ...rest } = schema;
    const converted = Object.entries(properties).map(
      ([key, child]) => [key, this.#convertField(child)] as const,
    );
    return { ...(rest as JsonObject), properties: Object.fromEntries(converted) };
  }

  /** An entry of a list or map is never absent, so documents say what an empty one is. */
  #convertEntry(schema: Schema): JsonObject {
    const empty = emptyValues[schema.type ?? ''];
    const converted = this.#convertField(schema);
    const isPlain = schema.type !== 'string' || schema.format === undefined;
    return empty !== undefined && isPlain ? { ...converted, default: empty } : converted;
  }

  #convertField(schema: Schema): JsonObject {
    if (schema['x-type-name'] !== undefined) {
      const strategy = schema['x-kubernetes-patch-strategy'];
      return {
        default: {},
        allOf: [this.#reference(schema)],
        ...(strategy === undefined ? {} : { 'x-kubernetes-patch-strategy': strategy }),
      };
    }
    const { items, additionalProperties, ...rest } = schema;
    const converted = { ...rest } as JsonObject;
    if (schema['x-kubernetes-int-or-string'])
      return schema.format === 'quantity'
        ? { oneOf: [{ type: 'string' }, { type: 'number' }] }
        : { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    if (schema['x-kubernetes-preserve-unknown-fields']) return { type: 'object' };
    if (items) converted['items'] = this.#convertEntry(items);
    if (typeof additionalProperties === 'object')
      converted['additionalProperties'] = this.#convertEntry(additionalProperties);
    return converted;
  }
}

const emptyValues: Readonly<Record<string, Json>> = { string: '', integer: 0, number: 0, boolean: false };

function gvk({ group, version, kind }: Kind): JsonObject {
  return { group, kind, version };
}
