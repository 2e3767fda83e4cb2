/** GET with watch=true: a stream of events, one JSON document per line. */
import { badRequest, expired } from '../errors.ts';
import type { Answer, StreamSink } from '../http/answer.ts';
import type { RequestContext } from '../ports/request-context.ts';
import { groupVersion, type ResourceDefinition } from '../registry/resource-definition.ts';
import { fromStorage } from '../registry/storage-form.ts';
import { selectionOf } from '../selectors/selection.ts';
import type { StoreEvent } from '../store/history.ts';
import type { KubeObject } from '../types.ts';
import { watchEvents } from './watch-events.ts';

/** A client that lets this much pile up is cut off, as the real server does with slow watchers. */
const pendingLimit = 64 * 1024 * 1024;

export function watch(context: RequestContext, definition: ResourceDefinition): Answer {
  const { query, info } = context;
  const { store } = context.parts;
  const selection = selectionOf(definition, query, info.name);
  const namespace = definition.namespaced ? info.namespace : '';
  const from = query.get('resourceVersion') ?? '';
  if (from !== '' && !/^\d+$/.test(from)) throw badRequest(`invalid resourceVersion: ${from}`);
  const bookmarks = query.get('allowWatchBookmarks') === 'true';
  const initial = from === '' || from === '0' || query.get('sendInitialEvents') === 'true';
  return {
    type: 'stream',
    contentType: 'application/json',
    run: (sink) =>
      new Promise((resolve) => {
        const send = (type: string, object: KubeObject): void => {
          sink.write(`${JSON.stringify({ type, object })}\n`);
          if (sink.pending > pendingLimit) end();
        };
        const concerns = (event: StoreEvent): boolean =>
          event.resource === definition.storage &&
          (namespace === '' || event.object.metadata.namespace === namespace);
        const forward = (event: StoreEvent): void => {
          if (!concerns(event)) return;
          for (const { type, object } of watchEvents(definition, selection, event)) send(type, object);
        };
        let unsubscribe = (): void => {};
        let unrestore = (): void => {};
        let timer: NodeJS.Timeout | undefined;
        const end = (): void => {
          unsubscribe();
          unrestore();
          clearTimeout(timer);
          resolve();
        };
        if (initial) {
          for (const stored of store.list(definition.storage, namespace)) {
            const object = fromStorage(definition, stored);
            if (selection.matches(object)) send('ADDED', object);
          }
          if (bookmarks && query.get('sendInitialEvents') === 'true')
            send('BOOKMARK', initialEventsEnd(definition, store.revision));
        } else {
          const missed = store.eventsAfter(Number(from));
          if (missed === undefined) {
            const gone = expired(`too old resource version: ${from} (${store.compactedRevision})`);
            send('ERROR', gone.status);
            resolve();
            return;
          }
          for (const event of missed) forward(event);
        }
        unsubscribe = store.subscribe(forward);
        unrestore = store.onRestore(end);
        const seconds = Number(query.get('timeoutSeconds') ?? '0');
        if (seconds > 0) timer = setTimeout(end, seconds * 1000);
        whenAborted(sink, end);
      }),
  };
}

function whenAborted(sink: StreamSink, end: () => void): void {
  if (sink.signal.aborted) end();
  else sink.signal.addEventListener('abort', end, { once: true });
}

function initialEventsEnd(definition: ResourceDefinition, revision: number): KubeObject {
  return {
    kind: definition.kind,
    apiVersion: groupVersion(definition),
    metadata: { resourceVersion: String(revision), annotations: { 'k8s.io/initial-events-end': 'true' } },
  };
}
