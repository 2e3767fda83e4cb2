/** DELETE of a collection. */
import { ApiError } from '../api/errors.ts';
import type { KubeObject } from '../api/types.ts';
import { deleteOptions } from '../decode/delete-options.ts';
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { fromStorage, type ResourceDefinition } from '../resource/resource-definition.ts';
import { selectionOf } from '../resource/selection.ts';
import { deleteObject } from '../strategy/delete-object.ts';

export async function deleteCollection(
  context: RequestContext,
  definition: ResourceDefinition,
): Promise<Answer> {
  const options = await deleteOptions(context);
  const { store } = context.parts;
  const revision = store.revision;
  const selection = selectionOf(definition, context.query);
  const deleted: KubeObject[] = [];
  const chosen = store
    .list(definition.storage, definition.namespaced ? context.info.namespace : '')
    .map((stored) => fromStorage(definition, stored))
    .filter((object) => selection.matches(object));
  for (const object of chosen) {
    try {
      const { namespace = '', name = '' } = object.metadata;
      await deleteObject(context, definition, namespace, name, options);
      deleted.push(object);
    } catch (error) {
      // Another client deleted it: the goal is reached.
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }
  return {
    type: 'list',
    status: 200,
    definition,
    metadata: { resourceVersion: String(revision) },
    items: deleted,
  };
}
