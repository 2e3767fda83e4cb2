/** GET of a collection. */
import type { Answer } from '../http/answer.ts';
import type { RequestContext } from '../ports/request-context.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import { fromStorage } from '../registry/storage-form.ts';
import { selectionOf } from '../selectors/selection.ts';

export function list(context: RequestContext, definition: ResourceDefinition): Answer {
  const { store } = context.parts;
  const selection = selectionOf(definition, context.query);
  const items = store
    .list(definition.storage, definition.namespaced ? context.info.namespace : '')
    .map((stored) => fromStorage(definition, stored))
    .filter((object) => selection.all || selection.matches(object));
  return {
    type: 'list',
    status: 200,
    definition,
    metadata: { resourceVersion: String(store.revision) },
    items,
  };
}
