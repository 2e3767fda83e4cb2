/** Where schemas of kinds come from: built-in tables, or the CRD that defines the kind. */
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import type { Json } from '../types.ts';

/**
 * A structural OpenAPI schema. Nodes may be shared and, for kinds such as JSONSchemaProps, cyclic: there is no $ref.
 * A field that is in no `properties` is unknown, unless additionalProperties or preserve-unknown-fields says otherwise.
 */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  /** Strategic merge: `merge`, `replace`, `retainKeys` or `merge,retainKeys`. */
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
}

export interface SchemaSource {
  /** The schema of the whole object, metadata included; undefined when none is known (nothing is checked then). */
  schemaOf(definition: ResourceDefinition): Schema | undefined;
}
