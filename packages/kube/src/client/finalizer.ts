/**
 * Finalizers: the controller cleans up before the object is removed. Both patches send uid and resourceVersion, so they change exactly
 * the object that was read, or nothing: never a deleted object or a later one with the same name.
 */

import { NotFoundError } from '../errors.ts';
import type { KubeObject, Live } from '../objects/object.ts';
import type { Resource } from '../objects/resource.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';

export function hasFinalizer(object: Live, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

export function isBeingDeleted(object: Live): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** Adds the finalizer if it is missing. The server accepts no new finalizers on an object that is being deleted. */
export async function addFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  finalizer: string,
  options: CallOptions = {},
): Promise<Live<T>> {
  if (hasFinalizer(object, finalizer) || isBeingDeleted(object)) return object;
  return patch(client, resource, object, [...(object.metadata.finalizers ?? []), finalizer], options);
}

/** Removes the finalizer. Returns undefined if the object is gone then. */
export async function removeFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  finalizer: string,
  options: CallOptions = {},
): Promise<Live<T> | undefined> {
  if (!hasFinalizer(object, finalizer)) return object;
  const rest = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  try {
    const answer = await patch(client, resource, object, rest, options);
    return isBeingDeleted(answer) && rest.length === 0 ? undefined : answer;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

function patch<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: Live<T>,
  finalizers: readonly string[],
  options: CallOptions,
): Promise<Live<T>> {
  const { uid, resourceVersion } = object.metadata;
  return client.mergePatch(
    resource,
    object.metadata,
    { metadata: { uid, resourceVersion, finalizers } },
    options,
  );
}
