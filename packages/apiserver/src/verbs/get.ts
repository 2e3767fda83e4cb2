/** GET of one object. */
import { notFound } from '../errors.ts';
import type { Answer } from '../http/answer.ts';
import type { RequestContext } from '../ports/request-context.ts';
import { groupResource, type ResourceDefinition } from '../registry/resource-definition.ts';
import { fromStorage } from '../registry/storage-form.ts';
import type { KubeObject } from '../types.ts';

export function get(context: RequestContext, definition: ResourceDefinition): Answer {
  return { type: 'object', status: 200, object: existing(context, definition), definition };
}

/** The object that the URL names, in the version of the URL; 404 when there is none. */
export function existing(context: RequestContext, definition: ResourceDefinition): KubeObject {
  const { namespace, name } = context.info;
  const stored = context.parts.store.get(
    definition.storage,
    definition.namespaced ? namespace : undefined,
    name,
  );
  if (stored === undefined) throw notFound(groupResource(definition), name);
  return fromStorage(definition, stored);
}
