/** Converts the client's options to query parameters and bodies, and error responses to errors. Pure. */
import { apiError, type Status } from '../errors.ts';
import type { Live, ObjectRef } from '../objects/object.ts';
import type { AnyResource } from '../objects/resource.ts';
import type { TransportResponse } from '../transport/transport.ts';
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
 * Whether the object in a response has been removed: it is being deleted, and no finalizer or grace period is left. The server sends
 * such a response to a delete without grace period, and to the patch that removes the last finalizer.
 */
export function hasEnded(object: Live): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) > 0) return false;
  // A Namespace has finalizers in its spec.
  const { spec } = object as { spec?: { finalizers?: readonly string[] } };
  return (finalizers ?? []).length === 0 && (spec?.finalizers ?? []).length === 0;
}

/** The error for a response other than 2xx. */
export function refusal(doing: string, response: TransportResponse): Error {
  const text = response.body.toString('utf8');
  const seconds = Number.parseFloat(response.headers['retry-after'] ?? '');
  let body: Status | undefined;
  try {
    const parsed = JSON.parse(text) as Status | null;
    if (parsed?.kind === 'Status') body = parsed;
  } catch {
    // Not a Status: use the text as the message.
  }
  return apiError(`cannot ${doing}`, {
    status: response.status,
    text,
    ...(body === undefined ? {} : { body }),
    ...(Number.isNaN(seconds) ? {} : { retryAfter: seconds * 1000 }),
  });
}
