/** From a request on a resource to the verb that answers it. */

import { ApiError, notFound, notImplemented } from '../api/errors.ts';
import type { Answer } from '../resource/answer.ts';
import { isBuiltinGroup } from '../resource/api-versions.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { groupResource, type ResourceDefinition, type Subresource } from '../resource/resource-definition.ts';
import { unservedFeature } from '../resource/unserved.ts';
import { negotiate } from '../response/negotiate.ts';
import { watch } from '../watch/watch.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { deleteCollection } from './delete-collection.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { patch } from './patch.ts';
import { update } from './update.ts';
import { viewVerb } from './view.ts';

export const pageNotFound: Answer = {
  type: 'text',
  status: 404,
  contentType: 'text/plain; charset=utf-8',
  text: '404 page not found\n',
};

export function methodNotAllowed(): ApiError {
  return new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {
      details: {},
    },
  );
}

/** The group is served, but not this. */
function resourceNotFound(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', { details: {} });
}

export async function dispatch(context: RequestContext): Promise<Answer> {
  const { group, version, plural, subresource, namespace, name, verb, rest } = context.info;
  const definition = context.parts.registry.find(group, version, plural);
  const unserved = unservedFeature(group, version, plural, subresource);
  if (unserved !== undefined && definition?.subresources[subresource] === undefined)
    throw notImplemented(unserved);
  // Groups of the server itself know what they have; those of custom resources are just not there.
  if (definition === undefined && !isBuiltinGroup(group)) return pageNotFound;
  if (definition === undefined || rest !== '') throw resourceNotFound();
  if (namespace !== '' && !definition.namespaced && plural !== 'namespaces') {
    if (definition.custom) return pageNotFound;
    throw resourceNotFound();
  }
  if (definition.deprecationWarning !== undefined) context.warnings.push(definition.deprecationWarning);
  if (subresource !== '') {
    const found = definition.subresources[subresource];
    if (found === undefined)
      throw definition.custom ? notFound(groupResource(definition), name) : resourceNotFound();
    return dispatchSubresource(context, definition, found);
  }
  const known = definition.verbs.some((one) => one === verb);
  const misplaced = definition.namespaced && namespace === '' && verb !== 'list' && verb !== 'watch';
  if (
    !known ||
    misplaced ||
    (verb === 'create' && name !== '') ||
    (name === '' && ['get', 'update', 'patch', 'delete'].includes(verb))
  )
    throw methodNotAllowed();
  // A client that could not read the answer gets nothing done.
  negotiate(context);
  switch (verb) {
    case 'create':
      return (definition.createAction ?? create)(context, definition);
    case 'get':
      return get(context, definition);
    case 'list':
      return list(context, definition);
    case 'watch':
      return watch(context, definition);
    case 'update':
      return update(context, definition);
    case 'patch':
      return patch(context, definition);
    case 'delete':
      return remove(context, definition);
    case 'deletecollection':
      return deleteCollection(context, definition);
    default:
      throw methodNotAllowed();
  }
}

async function dispatchSubresource(
  context: RequestContext,
  definition: ResourceDefinition,
  subresource: Subresource,
): Promise<Answer> {
  const { verb } = context.info;
  if (!subresource.verbs.some((one) => one === verb)) throw methodNotAllowed();
  switch (subresource.type) {
    case 'action':
      return subresource.handle(context, definition);
    case 'view':
      return viewVerb(context, definition, subresource);
    default:
      if (verb === 'get') return get(context, definition);
      return verb === 'patch'
        ? patch(context, definition, subresource.hooks)
        : update(context, definition, subresource.hooks);
  }
}
