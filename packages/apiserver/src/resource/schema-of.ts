/** Which schema a resource has: the one its definition carries (custom resources), else the built-in one. */

import { builtinSchema } from '../schema/builtin-schemas.ts';
import type { SchemaSource } from './schema-source.ts';
import type { ServerParts } from './server-parts.ts';

export function createSchemaSource(_parts: ServerParts): SchemaSource {
  return {
    schemaOf: (definition) =>
      definition.schema ?? builtinSchema(definition.group, definition.version, definition.kind)?.schema,
  };
}
