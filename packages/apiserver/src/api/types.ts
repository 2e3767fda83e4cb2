/** The shapes every room shares: objects as they travel in JSON, and who asks. */

/** Whole numbers beyond 2^53 are bigints. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: JsonObject;
  subresource?: string;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** Any Kubernetes object. What the store hands out is shared: clone before changing it. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** Who makes a request. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Where the server takes time and chance from; tests give their own. */
export interface ServerEnvironment {
  /** Milliseconds since the epoch. */
  now(): number;
  uuid(): string;
  /** From 0 to below 1. */
  random(): number;
  /** `length` characters as the API server puts them behind a generateName. */
  nameSuffix(length: number): string;
}

/** A time as metadata carries it: whole seconds, UTC. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}
