/** Subresources that are another object made from the stored one, such as scale: get, replace, patch and apply them. */

import { badRequest, invalid } from '../api/errors.ts';
import { clone, isObject } from '../api/json.ts';
import { untyped } from '../api/typed.ts';
import { type KubeObject, timestamp } from '../api/types.ts';
import { applyConfiguration, updateManagedFields } from '../apply/field-manager.ts';
import { MalformedBody, mediaType, parseYaml } from '../decode/decode.ts';
import { decodeObject } from '../decode/decode-object.ts';
import { type WriteOptions, writeOptions } from '../decode/write-options.ts';
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import {
  groupVersion,
  type ResourceDefinition,
  schemaOf,
  type ViewSubresource,
} from '../resource/resource-definition.ts';
import { checkPlace } from '../strategy/metadata/new-metadata.ts';
import { requireManager } from './apply.ts';
import { checkRevision } from './check-revision.ts';
import { existing } from './get.ts';
import { patcher } from './patched-object.ts';
import { updateObject } from './update.ts';
import { parentOwners, viewOwners } from './view-owners.ts';

export async function viewVerb(
  context: RequestContext,
  definition: ResourceDefinition,
  view: ViewSubresource,
): Promise<Answer> {
  const answer = (object: KubeObject): Answer => ({
    type: 'object',
    status: 200,
    object: view.read(object),
    ...(view.printerColumns ? { definition: asTable(definition, view) } : {}),
  });
  if (context.info.verb === 'get') return answer(existing(context, definition));
  const { subresource, name } = context.info;
  const patching = context.info.verb === 'patch';
  const options = writeOptions(context, patching ? 'PatchOptions' : 'UpdateOptions');
  const change = await changeOf(context, definition, view, options);
  const written = await updateObject(context, definition, {
    subresource,
    hooks: definition.hooks,
    options,
    view,
    unconditional: true,
    next: (live) => {
      const before = view.read(live);
      const owners = viewOwners(live.metadata.managedFields ?? [], view);
      if (owners.length > 0) before.metadata.managedFields = owners;
      const after = change(before);
      checkRevision(definition, after, live);
      const faults = view.validate?.(after) ?? [];
      // A custom resource is used directly, a built-in one through its view.
      if (faults.length > 0) throw invalid(definition.custom ? definition : view.kind, name, faults);
      const next = clone(live);
      view.write(after, next);
      const managedFields = parentOwners(
        live.metadata.managedFields ?? [],
        after.metadata.managedFields ?? [],
        view,
        groupVersion(definition),
        subresource,
      );
      if (managedFields.length > 0) next.metadata.managedFields = managedFields;
      else delete next.metadata.managedFields;
      return next;
    },
  });
  return answer(written);
}

function asTable(
  definition: ResourceDefinition,
  { kind, printerColumns = [] }: ViewSubresource,
): ResourceDefinition {
  return { ...definition, ...kind, printerColumns };
}

/** From the view as it is to the view as the client wants it, with its owners noted. */
async function changeOf(
  context: RequestContext,
  definition: ResourceDefinition,
  view: ViewSubresource,
  options: WriteOptions,
): Promise<(before: KubeObject) => KubeObject> {
  const { registry, environment } = context.parts;
  const own: ResourceDefinition = { ...definition, ...view.kind, custom: false, subresources: {}, hooks: {} };
  const request = {
    definition: own,
    subresource: context.info.subresource,
    manager: options.manager,
    apiVersion: groupVersion(view.kind),
    time: timestamp(environment.now()),
  };
  if (context.info.verb !== 'patch') {
    const sent = await decodeObject(context, own, options);
    sent.metadata.name ??= context.info.name;
    checkPlace(context, own, sent);
    return (before) =>
      withoutOwnersOfZero(updateManagedFields(registry, before, placed(before, clone(sent)), request));
  }
  const type = mediaType(context.headers['content-type']);
  const text = (await context.body()).toString('utf8');
  if (type === 'application/apply-patch+yaml') {
    requireManager(options);
    const configuration = configurationOf(text);
    const force = context.query.get('force') === 'true';
    return (before) => applyConfiguration(before, clone(configuration), { ...request, force });
  }
  const change = patcher(
    context,
    { definition: own, schema: schemaOf(own), custom: definition.custom },
    type,
    text,
    options,
  );
  return (before) =>
    withoutOwnersOfZero(updateManagedFields(registry, before, placed(before, change(before)), request));
}

/** What a client need not say of the object behind the view. */
function placed(before: KubeObject, after: KubeObject): KubeObject {
  const { resourceVersion } = after.metadata;
  after.metadata = { ...before.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  if (isObject(after['spec']) && after['spec']['replicas'] === 0) delete after['spec']['replicas'];
  return after;
}

/** A view does not distinguish zero from unset, so a manager that writes a zero, and the previous owner, own nothing. */
function withoutOwnersOfZero(view: KubeObject): KubeObject {
  if (isObject(view['spec']) && view['spec']['replicas'] === undefined) delete view.metadata.managedFields;
  return view;
}

function configurationOf(text: string): KubeObject {
  try {
    const { value } = parseYaml(text);
    if (isObject(value)) return untyped(value);
    throw new MalformedBody('the applied configuration is not an object');
  } catch (error) {
    if (error instanceof MalformedBody) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}
