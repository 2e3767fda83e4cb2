/** The deletion of one object: preconditions, admission, finalizers, grace period, and what is left of it in the store. */
import { admitValidating } from '../admission/admission-chain.ts';
import { conflict, notFound, objectModified } from '../api/errors.ts';
import { clone, equal } from '../api/json.ts';
import { type KubeObject, timestamp } from '../api/types.ts';
import type { DeleteOptions } from '../decode/delete-options.ts';
import type { RequestContext } from '../resource/request-context.ts';
import {
  fromStorage,
  groupResource,
  type ResourceDefinition,
  toStorage,
} from '../resource/resource-definition.ts';

const attempts = 5;

export async function deleteObject(
  context: RequestContext,
  definition: ResourceDefinition,
  namespace: string,
  name: string,
  options: DeleteOptions,
): Promise<{ object: KubeObject; gone: boolean }> {
  const { store, environment } = context.parts;
  const about = groupResource(definition);
  const place = definition.namespaced ? namespace : undefined;
  for (let attempt = 1; ; attempt += 1) {
    const stored = store.get(definition.storage, place, name);
    if (stored === undefined) throw notFound(about, name);
    const live = fromStorage(definition, stored);
    checkPreconditions(definition, live, options);
    if (options.admitted !== true)
      await admitValidating(
        {
          operation: 'DELETE',
          definition,
          subresource: '',
          kind: definition,
          namespace: live.metadata.namespace ?? '',
          name,
          object: undefined,
          oldObject: live,
          options: options.review,
          dryRun: options.dryRun,
        },
        context,
      );
    const next = markedForDeletion(definition, live, options, environment.now());
    definition.hooks.prepareForDelete?.(next, context);
    const stays =
      definition.hooks.holds?.(next) === true ||
      (next.metadata.finalizers ?? []).length > 0 ||
      (next.metadata.deletionGracePeriodSeconds ?? 0) > 0;
    if (options.dryRun) return { object: next, gone: !stays };
    if (stays && equal(next, live)) return { object: live, gone: false };
    let expected = stored.metadata.resourceVersion ?? '';
    if (!stays && definition.hooks.gracePeriod !== undefined && !equal(next, live)) {
      // A kind with a grace period is marked first and then goes, so that its watchers see both.
      const marked = store.replace(definition.storage, toStorage(definition, next), expected);
      expected = marked.done ? (marked.object.metadata.resourceVersion ?? '') : '';
    }
    const outcome = stays
      ? store.replace(definition.storage, toStorage(definition, next), expected)
      : store.delete(definition.storage, place, name, expected);
    if (outcome.done) {
      if (stays) return { object: fromStorage(definition, outcome.object), gone: false };
      const { resourceVersion = '' } = outcome.object.metadata;
      // A kind without a grace period goes without ever having said that it would.
      const end = definition.hooks.gracePeriod === undefined ? live : next;
      const last = { ...end, metadata: { ...end.metadata, resourceVersion } };
      definition.hooks.afterDelete?.(last, context);
      return { object: last, gone: true };
    }
    if (attempt === attempts) throw conflict(about, name, objectModified);
  }
}

/** A copy that says it is being deleted, and until what. */
function markedForDeletion(
  definition: ResourceDefinition,
  live: KubeObject,
  options: DeleteOptions,
  now: number,
): KubeObject {
  const next = clone(live);
  const { metadata } = next;
  const finalizers = finalizersAfterDelete(definition, metadata.finalizers ?? [], options);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const grace = definition.hooks.gracePeriod?.(live, options.gracePeriodSeconds) ?? 0;
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(now + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
    if (metadata.generation !== undefined) metadata.generation += 1;
  } else if (grace < (metadata.deletionGracePeriodSeconds ?? 0)) {
    // A second delete may shorten the grace, never lengthen it.
    const began = Date.parse(metadata.deletionTimestamp) - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    metadata.deletionTimestamp = timestamp(began + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
  }
  return next;
}

/** The two finalizers that the garbage collector works on, as the propagation policy asks; all others stay. */
function finalizersAfterDelete(
  definition: ResourceDefinition,
  before: readonly string[],
  { propagationPolicy, orphanDependents }: DeleteOptions,
): string[] {
  const policy =
    propagationPolicy ??
    (orphanDependents === undefined ? undefined : orphanDependents ? 'Orphan' : 'Background') ??
    (before.includes('orphan') ? 'Orphan' : undefined) ??
    (before.includes('foregroundDeletion') ? 'Foreground' : undefined) ??
    definition.defaultPropagation;
  const wanted = policy === 'Orphan' ? 'orphan' : policy === 'Foreground' ? 'foregroundDeletion' : undefined;
  const kept = before.filter((one) => one === wanted || (one !== 'orphan' && one !== 'foregroundDeletion'));
  return wanted === undefined || kept.includes(wanted) ? kept : [...kept, wanted];
}

function checkPreconditions(definition: ResourceDefinition, live: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = live;
  // Named by kind here, not by resource.
  const about = { group: definition.group, resource: definition.kind };
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(
      about,
      metadata.name ?? '',
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict(
      about,
      metadata.name ?? '',
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
}
