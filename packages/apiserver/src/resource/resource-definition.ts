/** What the server knows about one resource in one API version. */
import type { FieldFault, GroupResource } from '../api/errors.ts';
import type { KubeObject } from '../api/types.ts';
import { builtinSchema } from '../schema/builtin-schemas.ts';
import type { Schema } from '../schema/schema.ts';
import type { Answer } from './answer.ts';
import type { RequestContext } from './request-context.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/**
 * What is special about a kind. All hooks change the object they are given in place; it is theirs.
 * Order on create: default → (field manager, mutating admission) → prepareForCreate → validate → (validating admission).
 * Order on update: default → (field manager, mutating admission) → prepareForUpdate → validate, validateUpdate → (validating admission).
 */
export interface ResourceHooks {
  /**
   * Fills in what the client left out. Runs on every decoded or patched object, so it must be idempotent.
   * An applied configuration was not decoded: nulls in it are values.
   */
  default?(object: KubeObject, source?: 'body' | 'apply'): void;
  prepareForCreate?(object: KubeObject, context: RequestContext): void | Promise<void>;
  prepareForUpdate?(object: KubeObject, old: KubeObject, context: RequestContext): void | Promise<void>;
  /** All faults of the object itself; metadata is checked by the server. On an update `old` is what is stored. */
  validate?(object: KubeObject, context: RequestContext, old?: KubeObject): readonly FieldFault[];
  /** Faults of the change. */
  validateUpdate?(object: KubeObject, old: KubeObject, context: RequestContext): readonly FieldFault[];
  /** True while something other than finalizers and grace keeps a deleted object, such as the content of a namespace. */
  holds?(object: KubeObject): boolean;
  /** Runs on a copy before a delete: may add finalizers or mark the object as being deleted. */
  prepareForDelete?(object: KubeObject, context: RequestContext): void;
  /** Seconds the object stays after a delete; 0 or undefined: it goes at once (finalizers aside). */
  gracePeriod?(object: KubeObject, requested: number | undefined): number | undefined;
  /** Runs after the object has been written or taken out of the store (never on a dry run). */
  afterCreate?(object: KubeObject, context: RequestContext): void;
  afterUpdate?(object: KubeObject, old: KubeObject, context: RequestContext): void;
  afterDelete?(object: KubeObject, context: RequestContext): void;
}

/** Another way to write the same object: status, ephemeralcontainers, finalize. */
export interface PartSubresource {
  readonly type: 'part';
  readonly verbs: readonly Verb[];
  /** prepareForUpdate must put back what this subresource may not change. */
  readonly hooks: ResourceHooks;
}

/** Another object that shows and changes some of this one: scale. get, update, patch and apply work on it. */
export interface ViewSubresource {
  readonly type: 'view';
  readonly verbs: readonly Verb[];
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** The view of a stored object; may throw an ApiError. */
  read(object: KubeObject): KubeObject;
  /** Writes a changed view back into a copy of the object, which is handed on to a normal update. */
  write(view: KubeObject, object: KubeObject): void;
  validate?(view: KubeObject): readonly FieldFault[];
  readonly schema?: Schema;
  /** Columns of its table; without them it is never shown as one. */
  readonly printerColumns?: readonly PrinterColumn[];
  /** Where in the object the value lies that `write` changes; spec.replicas by default. */
  readonly ownedPath?: readonly string[];
}

/** A subresource that does something: eviction, binding, token. The handler has the whole request. */
export interface ActionSubresource {
  readonly type: 'action';
  readonly verbs: readonly Verb[];
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  handle(context: RequestContext, definition: ResourceDefinition): Promise<Answer>;
}

export type Subresource = PartSubresource | ViewSubresource | ActionSubresource;

export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly subresources: Readonly<Record<string, Subresource>>;
  readonly hooks: ResourceHooks;
  /** A kind that is answered and never stored, such as a review: does the whole of a create. */
  readonly createAction?: (context: RequestContext, definition: ResourceDefinition) => Promise<Answer>;
  /** The resource key in the store. Versions of one resource share it. */
  readonly storage: string;
  /** Built-in kinds fill kind and apiVersion from the URL and take strategic merge patches. */
  readonly custom: boolean;
  /** From storage form to this version and back, where more than apiVersion differs. */
  readonly fromStorage?: (object: KubeObject) => KubeObject;
  readonly toStorage?: (object: KubeObject) => KubeObject;
  /** The version objects are stored in; this version when absent. */
  readonly storageVersion?: string;
  readonly schema?: Schema;
  /** PUT to a name that does not exist creates it. */
  readonly createOnUpdate?: boolean;
  /** PUT without resourceVersion is refused. */
  readonly requireResourceVersion?: boolean;
  /** metadata.generation counts changes outside metadata and status. */
  readonly countsGeneration?: boolean;
  /** Values of field selectors beyond metadata.name and metadata.namespace, '' when unset. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Delete answers with the object rather than with a Status. */
  readonly deleteReturnsObject?: boolean;
  /** The finalizer that a delete without propagationPolicy adds. */
  readonly defaultPropagation?: 'Background' | 'Orphan';
  /** What `metadata.name` must look like. */
  readonly nameRule?: 'subdomain' | 'label' | 'path' | 'service' | ((name: string) => readonly string[]);
  /** Columns of tables that the definition of a custom resource asks for. */
  readonly printerColumns?: readonly PrinterColumn[];
  /** Said in a Warning header on every request to this version. */
  readonly deprecationWarning?: string;
}

/** One column: where its value is found and how it is shown. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

export function groupVersion(of: { readonly group: string; readonly version: string }): string {
  return of.group === '' ? of.version : `${of.group}/${of.version}`;
}

export function groupResource(definition: ResourceDefinition): GroupResource {
  return { group: definition.group, resource: definition.plural };
}

/**
 * The schema of the whole object, metadata included: the one its definition carries (custom resources), else the built-in one.
 * Undefined when none is known; nothing is checked then.
 */
export function schemaOf(definition: ResourceDefinition): Schema | undefined {
  return definition.schema ?? builtinSchema(definition.group, definition.version, definition.kind)?.schema;
}

/** Between the form an object is stored in and the form a version serves. */
export function fromStorage(definition: ResourceDefinition, stored: KubeObject): KubeObject {
  if (definition.fromStorage !== undefined) return definition.fromStorage(stored);
  const apiVersion = groupVersion(definition);
  return stored.apiVersion === apiVersion && stored.kind === definition.kind
    ? stored
    : { ...stored, apiVersion, kind: definition.kind };
}

export function toStorage(definition: ResourceDefinition, object: KubeObject): KubeObject {
  if (definition.toStorage !== undefined) return definition.toStorage(object);
  const apiVersion = groupVersion({
    group: definition.group,
    version: definition.storageVersion ?? definition.version,
  });
  return object.apiVersion === apiVersion && object.kind === definition.kind
    ? object
    : { ...object, apiVersion, kind: definition.kind };
}
