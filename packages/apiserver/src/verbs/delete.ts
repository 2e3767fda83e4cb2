/** DELETE of one object. */
import { badRequest, conflict, notFound } from '../errors.ts';
import type { Answer } from '../http/answer.ts';
import { decodeBody } from '../http/decode.ts';
import { clone } from '../json.ts';
import type { RequestContext } from '../ports/request-context.ts';
import { groupResource, type ResourceDefinition } from '../registry/resource-definition.ts';
import { fromStorage, toStorage } from '../registry/storage-form.ts';
import { type JsonObject, type KubeObject, timestamp } from '../types.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly dryRun: boolean;
  readonly review: JsonObject;
  /** Admission has been asked already, about the request that causes this delete. */
  readonly admitted?: boolean;
}

export async function deleteOptions(context: RequestContext): Promise<DeleteOptions> {
  const sent = ((await decodeBody(context)) ?? {}) as JsonObject & {
    gracePeriodSeconds?: number;
    preconditions?: { uid?: string; resourceVersion?: string };
    propagationPolicy?: string;
    orphanDependents?: boolean;
    dryRun?: string[];
  };
  const { query } = context;
  const grace =
    sent.gracePeriodSeconds ??
    (query.has('gracePeriodSeconds') ? Number(query.get('gracePeriodSeconds')) : undefined);
  const propagationPolicy = sent.propagationPolicy ?? query.get('propagationPolicy') ?? undefined;
  const dryRun = sent.dryRun ?? query.getAll('dryRun');
  if (dryRun.some((value) => value !== 'All')) throw badRequest(`invalid dryRun value ${dryRun.join(',')}`);
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(sent.preconditions === undefined ? {} : { preconditions: sent.preconditions }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(sent.orphanDependents === undefined ? {} : { orphanDependents: sent.orphanDependents }),
    dryRun: dryRun.length > 0,
    review: { ...sent, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  };
}

export async function remove(context: RequestContext, definition: ResourceDefinition): Promise<Answer> {
  const options = await deleteOptions(context);
  const { name, namespace } = context.info;
  const { object, gone } = await deleteObject(context, definition, namespace, name, options);
  if (!gone || definition.deleteReturnsObject === true)
    return { type: 'object', status: 200, object, definition };
  return {
    type: 'object',
    status: 200,
    object: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: {
        name,
        ...(definition.group === '' ? {} : { group: definition.group }),
        kind: definition.plural,
        uid: object.metadata.uid,
      },
    },
  };
}

export async function deleteObject(
  context: RequestContext,
  definition: ResourceDefinition,
  namespace: string,
  name: string,
  options: DeleteOptions,
): Promise<{ object: KubeObject; gone: boolean }> {
  const { store, admission, surroundings } = context.parts;
  const about = groupResource(definition);
  const place = definition.namespaced ? namespace : undefined;
  for (let attempt = 1; ; attempt += 1) {
    const stored = store.get(definition.storage, place, name);
    if (stored === undefined) throw notFound(about, name);
    const live = fromStorage(definition, stored);
    checkPreconditions(definition, live, options);
    if (options.admitted !== true)
      await admission.validate(
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
    const grace = definition.hooks.gracePeriod?.(live, options.gracePeriodSeconds) ?? 0;
    const next = clone(live);
    definition.hooks.prepareForDelete?.(next, context);
    const finalizers = new Set(next.metadata.finalizers ?? []);
    finalizers.delete('orphan');
    finalizers.delete('foregroundDeletion');
    const policy = options.propagationPolicy ?? (options.orphanDependents === true ? 'Orphan' : undefined);
    if (policy === 'Orphan') finalizers.add('orphan');
    else if (policy === 'Foreground') finalizers.add('foregroundDeletion');
    if (finalizers.size > 0) next.metadata.finalizers = [...finalizers];
    else delete next.metadata.finalizers;
    const stays = finalizers.size > 0 || grace > 0;
    if (!stays) {
      if (options.dryRun) return { object: live, gone: true };
      const outcome = store.delete(definition.storage, place, name, stored.metadata.resourceVersion);
      if (outcome.done) {
        const last = fromStorage(definition, outcome.object);
        definition.hooks.afterDelete?.(last, context);
        return { object: last, gone: true };
      }
    } else {
      if (next.metadata.deletionTimestamp === undefined) {
        next.metadata.deletionTimestamp = timestamp(surroundings.now() + grace * 1000);
        next.metadata.deletionGracePeriodSeconds = grace;
      }
      if (options.dryRun) return { object: next, gone: false };
      const outcome = store.replace(
        definition.storage,
        toStorage(definition, next),
        stored.metadata.resourceVersion ?? '',
      );
      if (outcome.done) return { object: fromStorage(definition, outcome.object), gone: false };
    }
    if (attempt === 5) throw conflict(about, name, 'too many writers at once');
  }
}

function checkPreconditions(definition: ResourceDefinition, live: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = live;
  const about = groupResource(definition);
  if (uid !== undefined && uid !== metadata.uid)
    throw conflict(
      about,
      metadata.name ?? '',
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`,
    );
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw conflict(
      about,
      metadata.name ?? '',
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion ?? ''}`,
    );
}
