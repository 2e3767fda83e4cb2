/** What of an object is kept in a cache. Half the heap of a cached pod is bookkeeping that no operator reads. */
import type { KubeObject, Live } from '../objects/object.ts';

/** Gets the object as parsed, which nobody else holds: it may be changed in place. Must keep name, namespace, uid, resourceVersion. */
export type Transform<T extends KubeObject> = (object: Live<T>) => Live<T>;

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The default: drops managedFields and kubectl's copy of the manifest. */
export function dropBookkeeping<T extends KubeObject>(object: Live<T>): Live<T> {
  const { metadata } = object;
  if (metadata.managedFields === undefined && metadata.annotations?.[LAST_APPLIED] === undefined)
    return object;
  const { managedFields: _, ...kept } = metadata as Record<string, unknown>;
  if (metadata.annotations?.[LAST_APPLIED] !== undefined) {
    const { [LAST_APPLIED]: __, ...annotations } = metadata.annotations;
    kept['annotations'] = annotations;
  }
  return { ...object, metadata: kept } as Live<T>;
}
