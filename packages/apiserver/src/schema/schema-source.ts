/** Which schema a resource has: the one its definition carries (custom resources), else the built-in one. */
import type { SchemaSource } from '../ports/schema-source.ts';
import type { ServerParts } from '../ports/server-parts.ts';
import { builtinSchema } from './builtin-schemas.ts';

export function createSchemaSource(_parts: ServerParts): SchemaSource {
  return {
    schemaOf: (definition) =>
      definition.schema ?? builtinSchema(definition.group, definition.version, definition.kind)?.schema,
  };
}
