/** POST to a collection. */

import { admitMutating, admitValidating } from '../admission/admission-chain.ts';
import type { AdmissionAttributes } from '../admission/plugin.ts';
import { alreadyExists, invalid, notFound } from '../api/errors.ts';
import { type KubeObject, timestamp } from '../api/types.ts';
import { updateManagedFields } from '../apply/field-manager.ts';
import { requireRight } from '../authorization/access.ts';
import { decodeObject } from '../decode/decode-object.ts';
import { type WriteOptions, writeOptions } from '../decode/write-options.ts';
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import {
  fromStorage,
  groupResource,
  groupVersion,
  type ResourceDefinition,
  toStorage,
} from '../resource/resource-definition.ts';
import { prepareNewMetadata } from '../strategy/metadata/new-metadata.ts';
import { validateMetadata } from '../strategy/metadata/validate-metadata.ts';

export async function create(context: RequestContext, definition: ResourceDefinition): Promise<Answer> {
  const options = writeOptions(context, 'CreateOptions');
  const object = await decodeObject(context, definition, options);
  definition.hooks.default?.(object);
  const created = await createObject(context, definition, object, options, (next) =>
    updateManagedFields(context.parts.registry, undefined, next, {
      definition,
      subresource: '',
      manager: options.manager,
      apiVersion: groupVersion(definition),
      time: timestamp(context.parts.environment.now()),
    }),
  );
  return { type: 'object', status: 201, object: created, definition };
}

/** Everything after decoding, shared with create-on-update and with apply to a new name. */
export async function createObject(
  context: RequestContext,
  definition: ResourceDefinition,
  decoded: KubeObject,
  options: WriteOptions,
  manage: (object: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const { store } = context.parts;
  let object = decoded;
  prepareNewMetadata(context, definition, object);
  object = manage(object);
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    definition,
    subresource: '',
    kind: definition,
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name ?? '',
    object,
    oldObject: undefined,
    options: options.review,
    dryRun: options.dryRun,
  };
  object = (await admitMutating(attributes, context)) ?? object;
  await definition.hooks.prepareForCreate?.(object, context);
  const faults = [
    ...validateMetadata(definition, object),
    ...(definition.hooks.validate?.(object, context) ?? []),
  ];
  if (faults.length > 0) throw invalid(definition, object.metadata.name ?? '', faults);
  // Apply and replace create what does not exist, for those who may create.
  if (context.info.verb !== 'create') requireRight(context, 'create');
  await admitValidating({ ...attributes, object }, context);
  const name = object.metadata.name ?? '';
  const existing = store.get(definition.storage, object.metadata.namespace, name);
  if (existing !== undefined) {
    const about = groupResource(definition);
    if (existing.metadata.deletionTimestamp !== undefined)
      throw alreadyExists(
        about,
        name,
        `object is being deleted: ${about.resource}${about.group === '' ? '' : `.${about.group}`} "${name}" already exists`,
      );
    throw alreadyExists(about, name);
  }
  if (options.dryRun) return object;
  const outcome = store.create(definition.storage, toStorage(definition, object));
  if (!outcome.done) throw notFound(groupResource(definition), name);
  const stored = fromStorage(definition, outcome.object);
  definition.hooks.afterCreate?.(stored, context);
  return stored;
}
