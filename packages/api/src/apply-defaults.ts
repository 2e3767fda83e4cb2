/** The defaulting function of a kind: what a manifest means once it is stored. */
import type { Static } from 'typebox';
import { rootSchema } from './schema/crd.ts';
import { withDefaults } from './schema/defaults.ts';
import type { KindDefinition } from './schema/kind.ts';

/**
 * Returns a copy of the object with every default filled in, as the API server would store it. The object must
 * have the shape of its kind; that is the API server's to check.
 */
export function applyDefaults<D extends KindDefinition, O extends { readonly spec: object }>(
  definition: D,
  object: O,
): Omit<O, 'spec'> & { spec: Static<D['spec']> } {
  return withDefaults(rootSchema(definition), object) as Omit<O, 'spec'> & { spec: Static<D['spec']> };
}
