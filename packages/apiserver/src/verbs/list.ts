/** GET of a collection: the newest state or that of a resourceVersion, whole or in pages. */
import { badRequest, expired } from '../api/errors.ts';
import type { KubeObject } from '../api/types.ts';
import { type ContinueToken, readContinueToken, writeContinueToken } from '../decode/continue-token.ts';
import { listOptions } from '../decode/list-options.ts';
import type { ListAnswer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { fromStorage, type ResourceDefinition } from '../resource/resource-definition.ts';
import { selectionOf } from '../resource/selection.ts';
import { objectKey } from '../store/store.ts';
import { freshEnough } from '../watch/fresh-enough.ts';

const tooOld = 'The resourceVersion for the provided list is too old.';
const tokenTooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

export async function list(context: RequestContext, definition: ResourceDefinition): Promise<ListAnswer> {
  const { store } = context.parts;
  const selection = selectionOf(definition, context.query);
  const options = listOptions(context.query);
  const { resourceVersion, continueToken } = options;
  // A list from the watch cache comes whole.
  const limit = resourceVersion === '0' && continueToken === '' ? 0 : options.limit;
  if (continueToken !== '' && resourceVersion !== '' && resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
  const token = continueToken === '' ? undefined : readContinueToken(continueToken);
  if (resourceVersion !== '') await freshEnough(context, Number(resourceVersion));
  const exact =
    options.match === 'Exact' ||
    // How pages at a resourceVersion were asked for before there was a match.
    (options.match === '' && limit > 0 && Number(resourceVersion) > 0);
  const wanted = token === undefined ? (exact ? Number(resourceVersion) : undefined) : token.revision;
  const revision = wanted === undefined || wanted < 0 ? (context.readAt ?? store.revision) : wanted;
  const namespace = definition.namespaced ? context.info.namespace : '';
  const stored = store.listAt(definition.storage, revision, namespace);
  if (stored === undefined) {
    if (token === undefined) throw expired(tooOld);
    throw expired(tokenTooOld, writeContinueToken({ ...token, revision: -1 }));
  }
  const matching = stored
    .map((object) => fromStorage(definition, object))
    .filter((object) => selection.all || selection.matches(object));
  const from = token === undefined ? 0 : firstAfter(matching, namespace, token);
  const items = limit > 0 ? matching.slice(from, from + limit) : matching.slice(from);
  const remaining = matching.length - from - items.length;
  const last = items.at(-1);
  return {
    type: 'list',
    status: 200,
    definition,
    metadata: {
      resourceVersion: String(revision),
      ...(remaining > 0 && last !== undefined
        ? { continue: writeContinueToken({ revision, after: pageKey(last, namespace) }) }
        : {}),
      // Counting what a selector leaves would cost the real server a scan, so it does not say.
      ...(remaining > 0 && selection.all ? { remainingItemCount: remaining } : {}),
    },
    items,
  };
}

function firstAfter(objects: readonly KubeObject[], namespace: string, { after }: ContinueToken): number {
  const index = objects.findIndex((object) => pageKey(object, namespace) > after);
  return index < 0 ? objects.length : index;
}

/** The key within what is listed: the namespace counts only when all are. */
function pageKey({ metadata }: KubeObject, namespace: string): string {
  return objectKey(namespace === '' ? metadata.namespace : undefined, metadata.name ?? '');
}
