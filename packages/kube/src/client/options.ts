/** What the methods of the client take and give. */
import type { DeepReadonly, KubeObject, Live, ObjectRef } from '../objects/object.ts';
import type { AnyResource } from '../objects/resource.ts';

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds, retries included. @default that of the transport */
  readonly timeout?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** `status`, `scale` or another subresource. */
  readonly subresource?: string;
  readonly dryRun?: boolean;
  /** Who the changed fields belong to. @default that of the client */
  readonly fieldManager?: string;
}

export interface ApplyOptions extends WriteOptions {
  /** Take fields that another manager owns. @default true: an operator is the authority on what it applies */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  /** Refuse (409) unless the live object has this uid: never delete a namesake. */
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
  /** Ask for the present objects first; a bookmark with the annotation `k8s.io/initial-events-end` ends them. */
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

/** Sees what the server answered to our writes. `gone`: the object does not exist any more. */
export interface WriteObserver {
  written(resource: AnyResource, object: Live): void;
  gone(resource: AnyResource, ref: ObjectRef, uid: string | undefined): void;
}

/** What one manager wants of an object: its identity and the fields it cares for. */
export type ApplyIntent<T extends KubeObject> = DeepReadonly<DeepPartial<Omit<T, 'metadata'>>> & {
  readonly metadata: DeepReadonly<Partial<T['metadata']>> & ObjectRef;
};

type DeepPartial<T> = T extends readonly (infer Item)[]
  ? Item[]
  : T extends object
    ? { [Key in keyof T]?: DeepPartial<T[Key]> }
    : T;
