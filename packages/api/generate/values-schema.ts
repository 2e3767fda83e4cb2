/** The specifications as JSON Schema, for the charts' `values.schema.json` to refer to. */
import { rootSchema } from '../src/schema/crd.ts';
import type { KindDefinition } from '../src/schema/kind.ts';
import type { StructuralSchema } from '../src/schema/structural.ts';

type JsonSchema = Record<string, unknown>;

export function valuesSchema(kinds: readonly KindDefinition[]): string {
  const definitions = Object.fromEntries(
    kinds.map((definition) => [
      definition.kind,
      jsonSchema(rootSchema(definition).properties?.['spec'] ?? {}),
    ]),
  );
  return `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', definitions }, undefined, 2)}\n`;
}

/** Helm's validator knows neither CEL nor Kubernetes' keywords; and in values a null means "leave it out". */
function jsonSchema(schema: StructuralSchema): JsonSchema {
  const { description, pattern, minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  const types = schema['x-kubernetes-int-or-string']
    ? ['integer', 'string']
    : schema.type === undefined
      ? []
      : [schema.type];
  return clean({
    description,
    type: types.length === 0 ? undefined : [...types, 'null'],
    enum: schema.enum === undefined ? undefined : [...schema.enum, null],
    default: schema.default,
    // In JSON Schema these apply to one type each, so they are harmless beside a null.
    pattern: schema['x-kubernetes-int-or-string'] ? undefined : pattern,
    minLength,
    maxLength,
    minimum,
    maximum,
    minItems,
    maxItems,
    properties:
      schema.properties === undefined
        ? undefined
        : Object.fromEntries(
            Object.entries(schema.properties).map(([name, field]) => [name, jsonSchema(field)]),
          ),
    additionalProperties:
      schema.additionalProperties === undefined ? undefined : jsonSchema(schema.additionalProperties),
    items: schema.items === undefined ? undefined : jsonSchema(schema.items),
  });
}

const clean = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
