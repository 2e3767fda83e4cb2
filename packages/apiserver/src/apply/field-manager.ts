/**
 * metadata.managedFields for every write, and server-side apply.
 *
 * Objects come in with their defaults filled (built-in kinds) and before admission: what admission and the server add
 * has no owner.
 */

import { ApiError, badRequest } from '../api/errors.ts';
import { clone } from '../api/json.ts';
import { untyped } from '../api/typed.ts';
import type { KubeObject } from '../api/types.ts';
import type { Registry } from '../resource/registry.ts';
import { type ResourceDefinition, schemaOf } from '../resource/resource-definition.ts';
import { builtinSchema } from '../schema/builtin-schemas.ts';
import { isObject, type JsonObject, type Schema } from '../schema/schema.ts';
import { anything } from '../schema/shape.ts';
import { applyConflict } from './apply-conflict.ts';
import { FieldSet } from './field-set.ts';
import { fitToSchema } from './fit-to-schema.ts';
import { conflictsBeyondLastApplied, kubectl, withLastApplied } from './last-applied.ts';
import {
  capManagers,
  decodeManagers,
  ManagedFieldsError,
  type Manager,
  type Managers,
  managedFieldsOf,
  managerKey,
  type Operation,
  withManagers,
  withoutManagers,
} from './managed-fields.ts';
import { ownersAfterApply, ownersAfterUpdate } from './owners.ts';
import { resetFields } from './reset-fields.ts';
import { typedErrors } from './typed-errors.ts';

/** A write, and by whom. */
export interface FieldManagerRequest {
  readonly definition: ResourceDefinition;
  /** '' for the main resource. */
  readonly subresource: string;
  /** fieldManager of the request, or the first part of the User-Agent. */
  readonly manager: string;
  /** `group/version` the request was made in. */
  readonly apiVersion: string;
  /** metadata timestamp for a changed entry. */
  readonly time: string;
}

/** The manager of an object that was written before its fields were tracked. */
const beforeFirstApply = 'before-first-apply';

/** After a create, replace or patch: `next` with managedFields that note what changed against `live`. */
export function updateManagedFields(
  registry: Registry,
  live: KubeObject | undefined,
  next: KubeObject,
  request: FieldManagerRequest,
): KubeObject {
  const { schema, blank } = kindOf(request);
  const managers = fitToSchema(liveOrSent(live, next, request.subresource !== ''), schema);
  const bare = withoutManagers(next as JsonObject);
  // An object that came to exist without owners stays without, until someone applies.
  if (managers.size === 0 && live?.metadata.uid !== undefined) return untyped(bare);
  const before = live === undefined ? blank : withoutManagers(live as JsonObject);
  if (!fitsOtherVersions(registry, managers, [before, bare], request)) return untyped(bare);
  const owners = noteUpdate(schema, before, bare, managers, request, request.manager);
  return untyped(withManagers(bare, owners));
}

/** Server-side apply of a parsed configuration; throws the 409 of a conflict unless forced. */
export function applyConfiguration(
  live: KubeObject | undefined,
  configuration: KubeObject,
  request: FieldManagerRequest & { readonly force: boolean },
): KubeObject {
  const { schema, blank } = kindOf(request);
  const applied = configuration as JsonObject;
  const meta = isObject(applied.metadata) ? applied.metadata : {};
  if (meta.managedFields !== undefined && meta.managedFields !== null)
    throw badRequest('metadata.managedFields must be nil');
  const fault = typedErrors(schema, applied);
  if (fault !== undefined)
    throw new ApiError(500, '', `failed to create typed patch object (${nameOf(configuration)}): ${fault}`);
  const before = live === undefined ? blank : withoutManagers(live as JsonObject);
  let managers: Managers = fitToSchema(decodeManagers(managedFieldsOf((live ?? {}) as JsonObject)), schema);
  if (managers.size === 0) managers = noteUpdate(schema, blank, before, managers, request, beforeFirstApply);
  const applier = managerOf(request, 'Apply', request.manager);
  const outcomeOf = (force: boolean) =>
    ownersAfterApply(
      schema,
      before,
      applied,
      managers,
      applier,
      managerKey(applier),
      ignoredBy(request),
      force,
    );
  const fromKubectl = applier.manager === kubectl;
  let outcome = outcomeOf(request.force);
  if (outcome.conflicts.length > 0) {
    const left = fromKubectl
      ? conflictsBeyondLastApplied(schema, before, outcome.conflicts)
      : outcome.conflicts;
    if (left.length > 0) throw applyConflict(left);
    outcome = outcomeOf(true);
  }
  // The caller may change the result, which shares parts with the stored object.
  let object = clone((outcome.value === undefined ? before : outcome.value) as JsonObject);
  if (fromKubectl) object = withLastApplied(object, applied);
  return untyped(withManagers(object, outcome.managers));
}

const kindOf = ({ definition }: FieldManagerRequest): { schema: Schema; blank: JsonObject } => ({
  schema: schemaOf(definition) ?? anything,
  blank: builtinSchema(definition.group, definition.version, definition.kind)?.blank ?? {},
});

/**
 * Who owns what in another version is followed by reading the object in that version. Where it does not fit, the real
 * server gives up and drops all owners; entries of versions that are gone are dropped alone.
 */
function fitsOtherVersions(
  registry: Registry,
  managers: Map<string, Manager>,
  objects: readonly JsonObject[],
  { definition, apiVersion }: FieldManagerRequest,
): boolean {
  if (!definition.custom) return true;
  for (const [key, manager] of managers) {
    if (manager.apiVersion === apiVersion) continue;
    const [group = '', version = ''] = manager.apiVersion.split('/');
    const other = registry.find(group, version, definition.plural);
    const schema = other && schemaOf(other);
    if (schema === undefined) managers.delete(key);
    else if (objects.some((object) => typedErrors(schema, object) !== undefined)) return false;
  }
  return true;
}

function noteUpdate(
  schema: Schema,
  before: JsonObject,
  after: JsonObject,
  managers: Managers,
  request: FieldManagerRequest,
  name: string,
): Managers {
  const writer = managerOf(request, 'Update', name);
  const key = managerKey(writer);
  return capManagers(ownersAfterUpdate(schema, before, after, managers, writer, key, ignoredBy(request)));
}

function managerOf(request: FieldManagerRequest, operation: Operation, manager: string): Manager {
  const { apiVersion, subresource, time } = request;
  return { manager: manager || 'unknown', operation, apiVersion, subresource, time, fields: new FieldSet() };
}

function ignoredBy({ definition, subresource }: FieldManagerRequest): FieldSet {
  return resetFields({
    kind: definition.kind,
    custom: definition.custom,
    hasStatus: 'status' in definition.subresources,
    subresource,
  });
}

/**
 * A client may write managedFields itself; one that does not know them, or writes nonsense, does not lose them.
 * A list of one empty entry is the way to ask for a reset.
 */
function liveOrSent(
  live: KubeObject | undefined,
  next: KubeObject,
  isSubresource: boolean,
): Map<string, Manager> {
  const sent = managedFieldsOf(next as JsonObject);
  if (!isSubresource && Array.isArray(sent)) {
    const [only] = sent;
    if (sent.length === 1 && isObject(only) && Object.keys(only).length === 0) return new Map();
    const managers = decodedOrNone(next);
    if (managers.size > 0) return managers;
  }
  return live === undefined ? new Map() : decodedOrNone(live);
}

function decodedOrNone(object: KubeObject): Map<string, Manager> {
  try {
    return decodeManagers(managedFieldsOf(object as JsonObject));
  } catch (error) {
    if (error instanceof ManagedFieldsError) return new Map();
    throw error;
  }
}

function nameOf({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}; ${version}, Kind=${kind}`;
}
