/** Small questions of form between the client's options and what goes over the wire. Pure. */
import type { Live, ObjectRef } from '../objects/object.ts';
import type { AnyResource } from '../objects/resource.ts';
import type { DeleteOptions, ListOptions } from './options.ts';

export function describe(resource: AnyResource, ref: ObjectRef): string {
  return `${resource.kind} ${ref.namespace === undefined ? '' : `${ref.namespace}/`}${ref.name}`;
}

export function setSelectors(query: URLSearchParams, options: ListOptions): void {
  if (options.labelSelector !== undefined) query.set('labelSelector', options.labelSelector);
  if (options.fieldSelector !== undefined) query.set('fieldSelector', options.fieldSelector);
  if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion);
}

export function deleteBody(
  options: { [Option in keyof DeleteOptions]: DeleteOptions[Option] | undefined },
): object {
  const { uid, resourceVersion, propagation, gracePeriodSeconds } = options;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(options.dryRun === true ? { dryRun: ['All'] } : {}),
    ...(uid === undefined && resourceVersion === undefined
      ? {}
      : { preconditions: { uid, resourceVersion } }),
  };
}

/**
 * Whether the object in an answer is the last that is seen of it: it is being deleted and nothing holds it. The server
 * sends such an answer for a delete without grace, and for the patch that takes the last finalizer away.
 */
export function hasEnded(object: Live): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) > 0) return false;
  // A Namespace is held by finalizers in its spec.
  const { spec } = object as { spec?: { finalizers?: readonly string[] } };
  return (finalizers ?? []).length === 0 && (spec?.finalizers ?? []).length === 0;
}
