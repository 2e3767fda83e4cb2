/** The schema a definition carries itself. */
import type { SchemaSource } from '../ports/schema-source.ts';
import type { ServerParts } from '../ports/server-parts.ts';

export function createSchemaSource(_parts: ServerParts): SchemaSource {
  return { schemaOf: (definition) => definition.schema };
}
