/** A writer that names a resourceVersion means that one, and no later one. */
import { ApiError, conflict, objectModified } from '../api/errors.ts';
import type { KubeObject } from '../api/types.ts';
import { groupResource, type ResourceDefinition } from '../resource/resource-definition.ts';

export function checkRevision(definition: ResourceDefinition, written: KubeObject, live: KubeObject): void {
  const expected = expectedVersion(written);
  if (expected !== '' && expected !== live.metadata.resourceVersion)
    throw conflict(groupResource(definition), live.metadata.name ?? '', objectModified);
}

/** The version that a body asks for; '' when any will do. */
export function expectedVersion({ metadata }: KubeObject): string {
  const { resourceVersion = '' } = metadata;
  if (resourceVersion !== '' && !/^\d+$/.test(resourceVersion)) {
    const shown = JSON.stringify(resourceVersion);
    throw new ApiError(500, '', `strconv.ParseUint: parsing ${shown}: invalid syntax`);
  }
  return Number(resourceVersion) === 0 ? '' : resourceVersion;
}
