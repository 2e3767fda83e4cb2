/** What the package knows about one kind: its schemas and how `kubectl` shows it. */
import type { Static, TSchema } from 'typebox';
import { apiVersion } from '../well-known.ts';
import type { Rule } from './fields.ts';

export interface Column {
  readonly name: string;
  readonly type: 'integer' | 'string' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: 0 | 1;
}

export interface KindDefinition<
  K extends string = string,
  S extends TSchema = TSchema,
  T extends TSchema = TSchema,
> {
  readonly kind: K;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  readonly spec: S;
  readonly status: T;
  readonly columns: readonly Column[];
  /** Whether `kubectl scale` and autoscalers work on it. */
  readonly scalable: boolean;
  /** Rules that need the object's name. */
  readonly rules: readonly Rule[];
}

/** Keeps the literal types of a definition. */
export const defineKind = <const K extends string, S extends TSchema, T extends TSchema>(
  definition: KindDefinition<K, S, T>,
): KindDefinition<K, S, T> => definition;

export interface ObjectMeta {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  generateName?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** An object of this kind as the API server returns it: defaulted, with its identity. */
export interface StoredObject<D extends KindDefinition> {
  apiVersion: typeof apiVersion;
  kind: D['kind'];
  metadata: ObjectMeta;
  spec: Static<D['spec']>;
  status?: Static<D['status']>;
}

export const ageColumn: Column = {
  name: 'AGE',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since creation.',
};

/** Whether the Ready condition holds, and with `-o wide` the word that says why not. */
export const readyColumns: readonly Column[] = [
  {
    name: 'READY',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: 'Whether the object is ready.',
  },
];

export const reasonColumn: Column = {
  name: 'REASON',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  description: 'Why it is ready or not.',
  priority: 1,
};
