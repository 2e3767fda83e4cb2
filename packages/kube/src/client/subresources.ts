/** Subresources that have their own kind: scale and eviction. */
import type { KubeObject, Live, ObjectRef } from '../objects/object.ts';
import { type AnyResource, defineResource } from '../objects/resource.ts';
import { pods } from '../objects/resources.ts';
import type { Client } from './client.ts';
import type { CallOptions, WriteOptions } from './options.ts';

export interface Scale extends KubeObject {
  spec?: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

/** The URL of the resource, with Scale as the type of its responses. */
const scaleOf = ({ apiVersion, plural, namespaced }: AnyResource) =>
  defineResource<Scale>({ apiVersion, kind: 'Scale', plural, namespaced });

export function getScale(
  client: Client,
  resource: AnyResource,
  ref: ObjectRef,
  options: CallOptions = {},
): Promise<Live<Scale>> {
  return client.get(scaleOf(resource), ref, { ...options, subresource: 'scale' });
}

export function setScale(
  client: Client,
  resource: AnyResource,
  ref: ObjectRef,
  replicas: number,
  options: WriteOptions = {},
): Promise<Live<Scale>> {
  return client.mergePatch(
    scaleOf(resource),
    ref,
    { spec: { replicas } },
    { ...options, subresource: 'scale' },
  );
}

export interface EvictOptions extends CallOptions {
  readonly uid?: string;
  readonly gracePeriodSeconds?: number;
}

/** Evicts a pod. Throws a {@link TooManyRequestsError} while a PodDisruptionBudget does not allow it. */
export async function evict(client: Client, pod: ObjectRef, options: EvictOptions = {}): Promise<void> {
  const deleteOptions = {
    ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
    ...(options.uid === undefined ? {} : { preconditions: { uid: options.uid } }),
  };
  const { namespace, name } = pod;
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions,
  };
  await client.post(pods, pod, 'eviction', eviction, { ...options, doing: `evict ${name}` });
}
