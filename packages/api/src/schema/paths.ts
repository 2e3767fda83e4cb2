/** Walks a structural schema and names every node by its path: `spec.refs[].name`, `spec.labels.{}`. */
import type { StructuralSchema } from './structural.ts';

export interface SchemaNode {
  readonly path: string;
  readonly schema: StructuralSchema;
  readonly parent?: SchemaNode;
  /** Whether the parent lists it as required. */
  readonly required: boolean;
}

export function* walk(
  schema: StructuralSchema,
  path = '',
  parent?: SchemaNode,
  required = false,
): Generator<SchemaNode> {
  const node: SchemaNode = { path, schema, required, ...(parent === undefined ? {} : { parent }) };
  yield node;
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* walk(
      field,
      path === '' ? name : `${path}.${name}`,
      node,
      schema.required?.includes(name) ?? false,
    );
  if (schema.additionalProperties !== undefined) yield* walk(schema.additionalProperties, `${path}.{}`, node);
  if (schema.items !== undefined) yield* walk(schema.items, `${path}[]`, node);
}
