/**
 * A TypeBox schema as a structural schema of `apiextensions.k8s.io/v1`: plain data, keys in a fixed order, and
 * `required` only where no default fills the field in.
 */
import type { TSchema } from 'typebox';
import type { Rule } from './fields.ts';

export interface StructuralSchema {
  description?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  format?: string;
  enum?: string[];
  default?: unknown;
  nullable?: boolean;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: Rule[];
}

const keywords = [
  'description',
  'type',
  'format',
  'enum',
  'default',
  'nullable',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'properties',
  'additionalProperties',
  'items',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-map-type',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
] as const;

export function structural(schema: TSchema): StructuralSchema {
  return ordered(plain(schema) as StructuralSchema);
}

/** TypeBox keeps its bookkeeping in hidden properties; JSON leaves them behind. */
const plain = (schema: TSchema): unknown => JSON.parse(JSON.stringify(schema));

function ordered(source: StructuralSchema): StructuralSchema {
  for (const key of Object.keys(source))
    if (!(keywords as readonly string[]).includes(key))
      throw new Error(`the schema keyword ${key} has no place in a structural schema`);
  const result: Record<string, unknown> = {};
  for (const keyword of keywords) {
    const value = source[keyword];
    if (value === undefined) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    result[keyword] = value;
  }
  if (source.properties !== undefined) {
    const { properties } = source;
    result['properties'] = Object.fromEntries(
      Object.keys(properties)
        .toSorted()
        .map((name) => [name, ordered(properties[name] ?? {})]),
    );
    const required = (source.required ?? [])
      .filter((name) => properties[name]?.default === undefined)
      .toSorted();
    if (required.length > 0) result['required'] = required;
    else delete result['required'];
  }
  if (source.items !== undefined) result['items'] = ordered(source.items);
  if (source.additionalProperties !== undefined)
    result['additionalProperties'] = ordered(source.additionalProperties);
  return result;
}
