/** GET of one object. */
import { ApiError, notFound } from '../api/errors.ts';
import type { KubeObject } from '../api/types.ts';
import { versionFault } from '../decode/list-options.ts';
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { fromStorage, groupResource, type ResourceDefinition } from '../resource/resource-definition.ts';
import { freshEnough } from '../watch/fresh-enough.ts';

export async function get(context: RequestContext, definition: ResourceDefinition): Promise<Answer> {
  const resourceVersion = context.query.get('resourceVersion') ?? '';
  const fault = versionFault(resourceVersion);
  if (fault !== undefined) throw new ApiError(500, '', fault);
  if (resourceVersion !== '') await freshEnough(context, Number(resourceVersion));
  return { type: 'object', status: 200, object: existing(context, definition), definition };
}

/** The object that the URL names, in the version of the URL; 404 when there is none. */
export function existing(context: RequestContext, definition: ResourceDefinition): KubeObject {
  const { name } = context.info;
  const stored = read(context, definition);
  if (stored === undefined) throw notFound(groupResource(definition), name);
  return fromStorage(definition, stored);
}

function read(
  { parts, info, readAt }: RequestContext,
  definition: ResourceDefinition,
): KubeObject | undefined {
  const namespace = definition.namespaced ? info.namespace : undefined;
  if (readAt === undefined) return parts.store.get(definition.storage, namespace, info.name);
  return parts.store
    .listAt(definition.storage, readAt, namespace)
    ?.find((object) => object.metadata.name === info.name);
}
