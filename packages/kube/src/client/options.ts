/** Parameters and results of the client's methods. */
import type { DeepReadonly, KubeObject, Live, ObjectRef } from '../objects/object.ts';
import type { AnyResource } from '../objects/resource.ts';

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds, including retries. @default that of the transport */
  readonly timeout?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** `status`, `scale` or another subresource. */
  readonly subresource?: string;
  readonly dryRun?: boolean;
  /** The manager that owns the changed fields. @default that of the client */
  readonly fieldManager?: string;
}

export interface ApplyOptions extends WriteOptions {
  /** Take over fields that another manager owns. @default true: an operator owns what it applies */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** Precondition: fails with 409 unless the object has this uid, so a later object of the same name is not deleted. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Foreground' | 'Background' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly resourceVersion?: string;
  /** Objects per page. @default 500 */
  readonly pageSize?: number;
}

export interface ListPage<T extends KubeObject> {
  readonly items: readonly Live<T>[];
  readonly resourceVersion: string;
}

export interface WatchOptions extends Omit<ListOptions, 'pageSize'> {
  /** Send the existing objects first; a bookmark with the annotation `k8s.io/initial-events-end` ends them. */
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
  /** @default 180_000 */
  readonly idle?: number;
}

export type JsonPatch = readonly {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}[];

export type Patch =
  | { readonly type: 'merge'; readonly body: unknown }
  | { readonly type: 'strategic'; readonly body: unknown }
  | { readonly type: 'json'; readonly body: JsonPatch };

/** Receives the responses to our writes. `gone`: the object no longer exists. */
export interface WriteObserver {
  written(resource: AnyResource, object: Live): void;
  gone(resource: AnyResource, ref: ObjectRef, uid: string | undefined): void;
}

/** The desired state that one field manager applies: the identity of the object and the fields to own. */
export type ApplyIntent<T extends KubeObject> = DeepReadonly<DeepPartial<Omit<T, 'metadata'>>> & {
  readonly metadata: DeepReadonly<Partial<T['metadata']>> & ObjectRef;
};

type DeepPartial<T> = T extends readonly (infer Item)[]
  ? Item[]
  : T extends object
    ? { [Key in keyof T]?: DeepPartial<T[Key]> }
    : T;
