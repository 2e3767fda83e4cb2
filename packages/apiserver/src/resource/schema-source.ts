/** Where schemas of kinds come from: built-in tables, or the CRD that defines the kind. */

import type { Schema } from '../schema/schema.ts';
import type { ResourceDefinition } from './resource-definition.ts';

export type { Schema };

export interface SchemaSource {
  /** The schema of the whole object, metadata included; undefined when none is known (nothing is checked then). */
  schemaOf(definition: ResourceDefinition): Schema | undefined;
}
