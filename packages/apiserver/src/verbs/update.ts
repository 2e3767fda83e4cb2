/** PUT, and the write loop that PUT, PATCH and apply share. */

import { admitMutating, admitValidating } from '../admission/admission-chain.ts';
import type { AdmissionAttributes } from '../admission/plugin.ts';
import { conflict, invalid, notFound, objectModified } from '../api/errors.ts';
import { clone, equal } from '../api/json.ts';
import { type JsonObject, type KubeObject, timestamp } from '../api/types.ts';
import { updateManagedFields } from '../apply/field-manager.ts';
import { stripTimes } from '../apply/managed-fields.ts';
import { decodeObject } from '../decode/decode-object.ts';
import { type WriteOptions, writeOptions } from '../decode/write-options.ts';
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import {
  fromStorage,
  groupResource,
  groupVersion,
  type ResourceDefinition,
  type ResourceHooks,
  toStorage,
  type ViewSubresource,
} from '../resource/resource-definition.ts';
import { objectKey } from '../store/store.ts';
import { checkPlace, keepSystemMetadata } from '../strategy/metadata/new-metadata.ts';
import { validateMetadata, validateMetadataUpdate } from '../strategy/metadata/validate-metadata.ts';
import { checkRevision, expectedVersion } from './check-revision.ts';
import { createObject } from './create.ts';

export async function update(
  context: RequestContext,
  definition: ResourceDefinition,
  hooks: ResourceHooks = definition.hooks,
): Promise<Answer> {
  const { subresource, name, namespace } = context.info;
  const options = writeOptions(context, 'UpdateOptions');
  const sent = await decodeObject(context, definition, options);
  hooks.default?.(sent);
  if ((sent.metadata.name ?? '') === '' && !definition.custom) sent.metadata.name = name;
  checkPlace(context, definition, sent);
  const manage = (live: KubeObject | undefined, next: KubeObject) =>
    updateManagedFields(context.parts.registry, live, next, {
      definition,
      subresource,
      manager: options.manager,
      apiVersion: groupVersion(definition),
      time: timestamp(context.parts.environment.now()),
    });
  const stored = context.parts.store.get(
    definition.storage,
    definition.namespaced ? namespace : undefined,
    name,
  );
  if (stored === undefined && definition.createOnUpdate === true && subresource === '') {
    const created = await createObject(context, definition, sent, options, (next) => manage(undefined, next));
    return { type: 'object', status: 201, object: created, definition };
  }
  const object = await updateObject(context, definition, {
    subresource,
    hooks,
    options,
    next: (live) => {
      const about = groupResource(definition);
      if (sent.metadata.uid !== undefined && sent.metadata.uid !== live.metadata.uid)
        throw conflict(
          about,
          name,
          `StorageError: invalid object, Code: 4, Key: ${registryKey(definition, live)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent.metadata.uid}, UID in object meta: ${live.metadata.uid ?? ''}`,
        );
      const expected = expectedVersion(sent);
      if (expected === '' && definition.requireResourceVersion === true)
        throw invalid({ group: definition.group, kind: definition.plural }, name, [
          {
            reason: 'FieldValueInvalid',
            field: 'metadata.resourceVersion',
            message: 'Invalid value: 0: must be specified for an update',
          },
        ]);
      checkRevision(definition, sent, live);
      return manage(live, clone(sent));
    },
    unconditional: expectedVersion(sent) === '',
  });
  return { type: 'object', status: 200, object, definition };
}

/** Where the real server would keep the object; some messages name it. */
function registryKey({ group, plural, custom }: ResourceDefinition, { metadata }: KubeObject): string {
  const place = custom ? `${group}/${plural}` : plural;
  return `/registry/${place}/${objectKey(metadata.namespace, metadata.name ?? '')}`;
}

export interface UpdatePlan {
  readonly subresource: string;
  readonly hooks: ResourceHooks;
  readonly options: WriteOptions;
  /** The object to store, from the one that is stored now (shared: do not change it). Runs again after a conflict. */
  next(live: KubeObject): KubeObject | Promise<KubeObject>;
  /** The write came through a view: admission sees that in place of the object. */
  readonly view?: ViewSubresource;
  /** Try again when another write came between. */
  readonly unconditional: boolean;
}

const attempts = 5;

/** Reads, computes, admits, validates and writes, again while others write in between. */
export async function updateObject(
  context: RequestContext,
  definition: ResourceDefinition,
  plan: UpdatePlan,
): Promise<KubeObject> {
  const { name } = context.info;
  const { store } = context.parts;
  const { view } = plan;
  const about = groupResource(definition);
  for (let attempt = 1; ; attempt += 1) {
    const stored = store.get(
      definition.storage,
      definition.namespaced ? context.info.namespace : undefined,
      name,
    );
    if (stored === undefined) throw notFound(about, name);
    const live = fromStorage(definition, stored);
    let next = await plan.next(live);
    keepSystemMetadata(next, live);
    const attributes: AdmissionAttributes = {
      operation: 'UPDATE',
      definition,
      subresource: plan.subresource,
      kind: view?.kind ?? definition,
      namespace: live.metadata.namespace ?? '',
      name,
      object: view?.read(next) ?? next,
      oldObject: view?.read(live) ?? live,
      options: plan.options.review,
      dryRun: plan.options.dryRun,
    };
    const admitted = await admitMutating(attributes, context);
    if (admitted !== undefined) {
      if (view === undefined) next = admitted;
      else view.write(admitted, next);
    }
    await plan.hooks.prepareForUpdate?.(next, live, context);
    countGeneration(definition, next, live);
    const faults = [
      ...validateMetadata(definition, next),
      ...validateMetadataUpdate(next, live),
      ...(plan.hooks.validate?.(next, context, live) ?? []),
      ...(plan.hooks.validateUpdate?.(next, live, context) ?? []),
    ];
    if (faults.length > 0) throw invalid(definition, name, faults);
    await admitValidating({ ...attributes, object: view?.read(next) ?? next }, context);
    if (equal(stripTimes(next as JsonObject), stripTimes(live as JsonObject))) return live;
    if (plan.options.dryRun) return next;
    const gone = isGone(next) && definition.hooks.holds?.(next) !== true;
    const outcome = gone
      ? store.delete(definition.storage, next.metadata.namespace, name, stored.metadata.resourceVersion)
      : store.replace(definition.storage, toStorage(definition, next), stored.metadata.resourceVersion ?? '');
    if (outcome.done) {
      if (gone) {
        plan.hooks.afterDelete?.(next, context);
        return next;
      }
      const written = fromStorage(definition, outcome.object);
      plan.hooks.afterUpdate?.(written, live, context);
      return written;
    }
    if (outcome.why === 'missing') throw notFound(about, name);
    if (!plan.unconditional || attempt === attempts) throw conflict(about, name, objectModified);
  }
}

/** The last finalizer of an object that is being deleted went away. */
function isGone(object: KubeObject): boolean {
  const { metadata } = object;
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers ?? []).length === 0 &&
    (metadata.deletionGracePeriodSeconds ?? 0) === 0
  );
}

function countGeneration(definition: ResourceDefinition, next: KubeObject, live: KubeObject): void {
  if (definition.countsGeneration !== true) return;
  const hasStatus = 'status' in definition.subresources;
  const keys = new Set([...Object.keys(next), ...Object.keys(live)]);
  keys.delete('metadata');
  keys.delete('apiVersion');
  keys.delete('kind');
  if (hasStatus) keys.delete('status');
  const changed = [...keys].some((key) => !equal(next[key], live[key]));
  next.metadata.generation = (live.metadata.generation ?? 0) + (changed ? 1 : 0);
}
