/** Subresources that exist on a real server but not here: they respond with an error, never with success. */
import { notImplemented } from '../../api/errors.ts';
import type { ActionSubresource, Verb } from '../../resource/resource-definition.ts';

export function unsupported(feature: string, kind: string, verbs: readonly Verb[]): ActionSubresource {
  return {
    type: 'action',
    verbs,
    kind: { group: '', version: 'v1', kind },
    handle: () => Promise.reject(notImplemented(feature)),
  };
}
