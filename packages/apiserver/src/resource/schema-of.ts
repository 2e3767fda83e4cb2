import { builtinSchema } from '../schema/builtin-schemas.ts';
import type { Schema } from '../schema/schema.ts';
import type { ResourceDefinition } from './resource-definition.ts';

/**
 * The schema of the whole object, metadata included: the one its definition carries (custom resources), else the built-in one.
 * Undefined when none is known; nothing is checked then.
 */
export function schemaOf(definition: ResourceDefinition): Schema | undefined {
  return definition.schema ?? builtinSchema(definition.group, definition.version, definition.kind)?.schema;
}
