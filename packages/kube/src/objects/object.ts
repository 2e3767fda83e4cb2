/** Types that all Kubernetes objects share, object references and keys. Pure. */

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** `metadata` of an object to write. Fields that the server sets are optional here and required in {@link Live}. */
export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: unknown[];
}

export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

export type DeepReadonly<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
      : T;

/** An object from the server. Read-only: it may be shared with the cache. */
export type Live<T extends KubeObject = KubeObject> = DeepReadonly<T> & {
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
  };
};

/** An object to create; the server may choose its name (`generateName`). */
export type Draft<T extends KubeObject> = Omit<DeepReadonly<T>, 'metadata'> & {
  readonly metadata: Omit<DeepReadonly<ObjectMeta>, 'name'> & { readonly name?: string };
};

export interface ObjectRef {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** `namespace/name`, or `name` alone for a cluster-scoped object: the key of caches and queues. */
export type ObjectKey = string;

export function keyOf(object: { readonly metadata: ObjectRef } | ObjectRef): ObjectKey {
  const { namespace, name } = 'metadata' in object ? object.metadata : object;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export function refOf(key: ObjectKey): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** The controlling owner of this object, if it has one. */
export function controllerOf(object: DeepReadonly<KubeObject>): DeepReadonly<OwnerReference> | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

/** The reference that makes `owner` the controlling owner: the child is deleted with it. */
export function controllerReference(owner: Live): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * Compares two resourceVersions of one resource type. They are decimal numbers that may exceed a double, so they are
 * compared as strings of digits. Negative: `left` is older.
 */
export function compareResourceVersions(left: string, right: string): number {
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}
