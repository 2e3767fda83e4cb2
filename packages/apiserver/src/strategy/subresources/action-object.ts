/** The object a client posts to an action subresource: read, checked against the URL, admitted. */
import { admitMutating, admitValidating } from '../../admission/admission-chain.ts';
import { notImplemented } from '../../api/errors.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import { updateManagedFields } from '../../apply/field-manager.ts';
import { decodeObject } from '../../decode/decode-object.ts';
import { type WriteOptions, writeOptions } from '../../decode/write-options.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import {
  type ActionSubresource,
  groupVersion,
  type ResourceDefinition,
  type Verb,
} from '../../resource/resource-definition.ts';

export interface ActionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface ActionObject {
  readonly object: KubeObject;
  readonly options: WriteOptions;
}

/** Reads the body as an object of the given kind; what it leaves out is taken from the URL. */
export async function readActionObject(
  context: RequestContext,
  definition: ResourceDefinition,
  kind: ActionKind,
): Promise<ActionObject> {
  const options = writeOptions(context, 'CreateOptions');
  // It is read and its fields are owned as what was sent, not as the resource it is sent to.
  const own: ResourceDefinition = { ...definition, ...kind, custom: false, subresources: {}, hooks: {} };
  const object = await decodeObject(context, own, options);
  object.metadata.namespace ??= context.info.namespace;
  const noted = updateManagedFields(context.parts.registry, undefined, object, {
    definition: own,
    subresource: context.info.subresource,
    manager: options.manager,
    apiVersion: groupVersion(kind),
    time: timestamp(context.parts.environment.now()),
  });
  return { object: noted, options };
}

/** Runs admission on it as a CREATE on the subresource; answers the object to go on with. */
export async function admitActionObject(
  context: RequestContext,
  definition: ResourceDefinition,
  kind: ActionKind,
  { object, options }: ActionObject,
  dryRun = options.dryRun,
): Promise<KubeObject> {
  const attributes = {
    operation: 'CREATE' as const,
    definition,
    subresource: context.info.subresource,
    kind,
    namespace: context.info.namespace,
    name: context.info.name,
    object,
    oldObject: undefined,
    options: options.review,
    dryRun,
  };
  const admitted = (await admitMutating(attributes, context)) ?? object;
  await admitValidating({ ...attributes, object: admitted }, context);
  return admitted;
}

/** The Status object of an action that was done. */
export function successStatus(code: number): KubeObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
}

/** Subresources that exist on a real server but not here: they respond with an error, never with success. */
export function unsupported(feature: string, kind: string, verbs: readonly Verb[]): ActionSubresource {
  return {
    type: 'action',
    verbs,
    kind: { group: '', version: 'v1', kind },
    handle: () => Promise.reject(notImplemented(feature)),
  };
}
