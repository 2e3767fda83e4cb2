/** Requests may hold masks that no recorded answer showed; what they stood for follows from where they stand. */
import { randomUUID } from 'node:crypto';
import type { Caller } from './backend.ts';
import type { RecordedRequest } from './case.ts';
import type { Masks } from './masks.ts';
import { at } from './reductions.ts';

export async function bindFromServer(caller: Caller, masks: Masks, request: RecordedRequest): Promise<void> {
  const unbound = masks.unbound(JSON.stringify([request.path, request.body ?? null]));
  if (unbound.length === 0) return;
  const path = masks.fill(request.path).split('?')[0] ?? '';
  const live: unknown = JSON.parse((await caller.call({ method: 'GET', path })).text);
  const uid = at(live, 'metadata', 'uid');
  const isNew = typeof uid === 'string' && masks.nameOf('uid', uid) === undefined;
  for (const name of unbound) {
    if (name.startsWith('<rv-')) {
      // The object's own version if it is one, else the version of the collection.
      const version = at(live, 'metadata', 'resourceVersion');
      if (typeof version === 'string') masks.bind(name, version);
    } else if (name.startsWith('<uid-')) {
      // A uid not seen so far is that of the object made in the setup; one beyond that is a wrong one.
      masks.bind(name, isNew ? uid : randomUUID());
    }
  }
}
