/** No ownership is tracked yet; apply says so. */
import { notImplemented } from '../errors.ts';
import type { FieldManager } from '../ports/field-manager.ts';
import type { ServerParts } from '../ports/server-parts.ts';

export function createFieldManager(_parts: ServerParts): FieldManager {
  return {
    update: (_live, next) => next,
    apply: () => {
      throw notImplemented('server-side apply');
    },
  };
}
