/** What an informer of a real server sees of the store: some kinds as they were a moment ago. */

import type { KubeObject } from '../../src/api/types.ts';
import type { StoreEvent } from '../../src/store/history.ts';
import { objectKey, type Store } from '../../src/store/store.ts';

export interface LaggingStoreOptions {
  readonly milliseconds: number;
  /** Kinds (`group/plural`) that are read late. */
  readonly late: ReadonlySet<string>;
  /** Kinds of which an object that the late copy lacks is looked up in the store itself. */
  readonly liveOnMiss?: ReadonlySet<string>;
}

/** The same store for everything else. Call `stop` so that nothing is copied any more. */
export function laggingStore(
  store: Store,
  { milliseconds, late, liveOnMiss = new Set() }: LaggingStoreOptions,
): { readonly store: Store; stop(): void } {
  const copies = new Map<string, Map<string, KubeObject>>();
  const copyOf = (resource: string) => {
    let copy = copies.get(resource);
    if (copy === undefined) copies.set(resource, (copy = new Map()));
    return copy;
  };
  const keyOf = ({ metadata }: KubeObject) => objectKey(metadata.namespace, metadata.name ?? '');
  for (const resource of late)
    for (const object of store.list(resource)) copyOf(resource).set(keyOf(object), object);
  let stopped = false;
  const stop = store.subscribe((event) => {
    if (!late.has(event.resource)) return;
    setTimeout(() => {
      if (stopped) return;
      if (event.type === 'DELETED') copyOf(event.resource).delete(keyOf(event.object));
      else copyOf(event.resource).set(keyOf(event.object), event.object);
    }, milliseconds).unref();
  });
  const reads: Partial<Store> = {
    get(resource, namespace, name) {
      if (!late.has(resource)) return store.get(resource, namespace, name);
      const found = copyOf(resource).get(objectKey(namespace, name));
      return found ?? (liveOnMiss.has(resource) ? store.get(resource, namespace, name) : undefined);
    },
    list(resource, namespace) {
      if (!late.has(resource)) return store.list(resource, namespace);
      const all = [...copyOf(resource)].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
      return namespace === undefined || namespace === ''
        ? all
        : all.filter((object) => object.metadata.namespace === namespace);
    },
    subscribe: (listener) => store.subscribe((event) => tell(event, listener)),
  };
  const tell = (event: StoreEvent, listener: (event: StoreEvent) => void): void => {
    if (late.has(event.resource)) setTimeout(() => stopped || listener(event), milliseconds).unref();
    else listener(event);
  };
  const view = new Proxy(store, {
    get(target, property) {
      const own = reads[property as keyof Store];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    store: view,
    stop() {
      stopped = true;
      stop();
    },
  };
}
