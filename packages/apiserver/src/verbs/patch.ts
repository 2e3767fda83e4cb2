/** PATCH: merge, JSON, strategic merge, and server-side apply. */
import { ApiError, badRequest, conflict, objectModified } from '../errors.ts';
import type { Answer } from '../http/answer.ts';
import { mediaType, parseJson, parseYamlText } from '../http/decode.ts';
import { checkKind } from '../http/decode-object.ts';
import { clone, isObject } from '../json.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { strategicMerge } from '../patch/strategic-merge.ts';
import type { RequestContext } from '../ports/request-context.ts';
import {
  groupResource,
  groupVersion,
  type ResourceDefinition,
  type ResourceHooks,
} from '../registry/resource-definition.ts';
import { type JsonObject, type KubeObject, timestamp } from '../types.ts';
import { createObject } from './create.ts';
import { updateObject } from './update.ts';
import { writeOptions } from './write-options.ts';

export async function patch(
  context: RequestContext,
  definition: ResourceDefinition,
  hooks: ResourceHooks = definition.hooks,
): Promise<Answer> {
  const { subresource, name, namespace } = context.info;
  const { fieldManager, store, surroundings } = context.parts;
  const options = writeOptions(context, 'PatchOptions');
  const type = mediaType(context.headers['content-type']);
  const text = (await context.body()).toString('utf8');
  const request = {
    definition,
    subresource,
    manager: options.manager,
    apiVersion: groupVersion(definition),
    time: timestamp(surroundings.now()),
  };
  if (type === 'application/apply-patch+yaml') {
    const configuration = parseYamlText(text);
    if (!isObject(configuration)) throw badRequest('the applied configuration is not an object');
    const applied = checkKind(definition, configuration as unknown as KubeObject);
    const force = context.query.get('force') === 'true';
    const stored = store.get(definition.storage, definition.namespaced ? namespace : undefined, name);
    if (stored === undefined && subresource === '') {
      const fresh = fieldManager.apply(undefined, clone(applied), { ...request, force });
      fresh.metadata.name = name;
      hooks.default?.(fresh, 'apply');
      const created = await createObject(context, definition, fresh, options, (object) => object);
      return { type: 'object', status: 201, object: created, definition };
    }
    const object = await updateObject(context, definition, {
      subresource,
      hooks,
      options,
      unconditional: true,
      next: (live) => {
        const next = fieldManager.apply(live, clone(applied), { ...request, force });
        hooks.default?.(next, 'apply');
        return next;
      },
    });
    return { type: 'object', status: 200, object, definition };
  }
  const change = patcher(context, definition, type, text);
  const object = await updateObject(context, definition, {
    subresource,
    hooks,
    options,
    unconditional: true,
    next: (live) => {
      const next = checkKind(definition, change(live));
      const expected = next.metadata.resourceVersion ?? '';
      if (expected !== '' && expected !== live.metadata.resourceVersion)
        throw conflict(groupResource(definition), name, objectModified);
      hooks.default?.(next);
      return fieldManager.update(live, next, request);
    },
  });
  return { type: 'object', status: 200, object, definition };
}

function patcher(
  context: RequestContext,
  definition: ResourceDefinition,
  type: string,
  text: string,
): (live: KubeObject) => KubeObject {
  switch (type) {
    case 'application/merge-patch+json': {
      const change = parseJson(text) as JsonObject;
      return (live) => mergePatch(live, change) as KubeObject;
    }
    case 'application/json-patch+json': {
      const operations = parseJson(text);
      return (live) => applyJsonPatch(clone(live), operations) as KubeObject;
    }
    case 'application/strategic-merge-patch+json': {
      const change = parseJson(text) as JsonObject;
      const schema = context.parts.schemas.schemaOf(definition);
      if (!definition.custom) return (live) => strategicMerge(live, change, schema) as KubeObject;
      break;
    }
    default:
  }
  throw new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml`,
  );
}
