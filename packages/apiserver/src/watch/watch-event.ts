/** What one write means to a watch with a selector. */

import type { KubeObject } from '../api/types.ts';
import { fromStorage, type ResourceDefinition } from '../resource/resource-definition.ts';
import type { Selection } from '../resource/selection.ts';
import type { StoreEvent } from '../store/history.ts';

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

/**
 * The event to send, if any. An object that leaves the selector is DELETED: its old content under the new
 * resourceVersion.
 */
export function watchEvent(
  definition: ResourceDefinition,
  selection: Selection,
  event: StoreEvent,
): WatchEvent | undefined {
  const object = fromStorage(definition, event.object);
  if (selection.all) return { type: event.type, object };
  const previous = event.previous === undefined ? undefined : fromStorage(definition, event.previous);
  const was = previous !== undefined && selection.matches(previous);
  const is = event.type !== 'DELETED' && selection.matches(object);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object };
  if (!was || previous === undefined) return undefined;
  const { resourceVersion = '' } = object.metadata;
  return { type: 'DELETED', object: { ...previous, metadata: { ...previous.metadata, resourceVersion } } };
}
