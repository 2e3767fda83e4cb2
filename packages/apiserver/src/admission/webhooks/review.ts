/** The AdmissionReview that a webhook is sent. */
import { clone } from '../../api/json.ts';
import type { JsonObject, KubeObject } from '../../api/types.ts';
import { userInfoOf } from '../../authorization/user-info.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import { fromStorage, type ResourceDefinition, toStorage } from '../../resource/resource-definition.ts';
import type { AdmissionAttributes } from '../plugin.ts';

export interface AdmissionRequest {
  readonly uid: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: string;
  readonly object: KubeObject | null;
  readonly oldObject: KubeObject | null;
  readonly dryRun: boolean;
  readonly [field: string]: unknown;
}

/** `matched` is the version of the resource the webhook asked for. */
export function admissionRequest(
  attributes: AdmissionAttributes,
  context: RequestContext,
  matched: ResourceDefinition,
): AdmissionRequest {
  const { definition, subresource, kind, operation, namespace, object, oldObject, dryRun } = attributes;
  const name = requestName(attributes, context);
  const as = (state: KubeObject | undefined) =>
    state === undefined ? null : subresourceKind(attributes) ? state : inVersion(state, definition, matched);
  const shownKind = subresourceKind(attributes) ? kind : matched;
  return {
    uid: context.parts.environment.uuid(),
    kind: groupVersionKind(shownKind),
    resource: groupVersionResource(matched),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: groupVersionKind(kind),
    requestResource: groupVersionResource(definition),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: userInfoOf(context.user),
    object: as(object),
    oldObject: as(oldObject),
    dryRun,
    options: shownOptions(attributes),
  };
}

/** Scale, Eviction, Binding: objects of their own that no other version of the resource changes. */
function subresourceKind({ kind, definition }: AdmissionAttributes): boolean {
  return kind.kind !== definition.kind || kind.group !== definition.group;
}

// A delete of a collection names no object, and a name still to be made is not known to the client either.
function requestName({ operation, object, name }: AdmissionAttributes, { info }: RequestContext): string {
  if (operation === 'DELETE') return info.name;
  return operation === 'CREATE' && object?.metadata.generateName && info.name === '' ? '' : name;
}

function inVersion(object: KubeObject, from: ResourceDefinition, to: ResourceDefinition): KubeObject {
  return from === to ? object : fromStorage(to, toStorage(from, clone(object)));
}

function groupVersionKind({
  group,
  version,
  kind,
}: {
  group: string;
  version: string;
  kind: string;
}): JsonObject {
  return { group, version, kind };
}

function groupVersionResource({ group, version, plural }: ResourceDefinition): JsonObject {
  return { group, version, resource: plural };
}

/** However a write came in, what webhooks see is a create, an update or a delete. */
function shownOptions({ options, operation }: AdmissionAttributes): JsonObject {
  if (options['kind'] !== 'PatchOptions') return options;
  const { force: _force, ...rest } = options;
  return { ...rest, kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions' };
}

const SET_LATER = ['uid', 'creationTimestamp', 'generation'] as const;

/** A new object as mutating webhooks see it: before the server gives it an identity. */
export function withoutIdentity(object: KubeObject): KubeObject {
  const bare = clone(object);
  for (const key of SET_LATER) delete bare.metadata[key];
  return bare;
}

/** Gives a changed copy the identity of the object again. */
export function withIdentity(changed: KubeObject, object: KubeObject): KubeObject {
  for (const key of SET_LATER)
    if (object.metadata[key] !== undefined) Object.assign(changed.metadata, { [key]: object.metadata[key] });
  return changed;
}
