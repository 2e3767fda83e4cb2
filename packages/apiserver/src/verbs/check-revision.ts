import { conflict, objectModified } from '../errors.ts';
import { groupResource, type ResourceDefinition } from '../registry/resource-definition.ts';
import type { KubeObject } from '../types.ts';

/** A writer that names a resourceVersion means that one, and no later one. */
export function checkRevision(definition: ResourceDefinition, written: KubeObject, live: KubeObject): void {
  const expected = written.metadata.resourceVersion ?? '';
  if (expected !== '' && expected !== live.metadata.resourceVersion)
    throw conflict(groupResource(definition), live.metadata.name ?? '', objectModified);
}
