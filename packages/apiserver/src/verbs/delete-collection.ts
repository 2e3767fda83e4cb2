/** DELETE of a collection. */
import { ApiError } from '../errors.ts';
import type { Answer } from '../http/answer.ts';
import type { RequestContext } from '../ports/request-context.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import { fromStorage } from '../registry/storage-form.ts';
import { selectionOf } from '../selectors/selection.ts';
import type { KubeObject } from '../types.ts';
import { deleteObject } from './delete.ts';
import { deleteOptions } from './delete-options.ts';

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
      // Somebody else was faster: that is what was wanted.
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
