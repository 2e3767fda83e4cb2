/** Sources of reconcile requests: changes of cached objects, or any other source of keys. */
import type { AnyInformer } from '../cache/informer.ts';
import type { Change } from '../cache/replica.ts';
import {
  controllerOf,
  type KubeObject,
  keyOf,
  type Live,
  type ObjectKey,
  type ObjectRef,
} from '../objects/object.ts';
import { type AnyResource, groupOf } from '../objects/resource.ts';

/**
 * Puts keys on a controller's queue until the signal is aborted. `start` may return at once and continue in the background, or return a
 * promise that resolves when the source ends; a rejection stops the program.
 */
export interface Source {
  start(enqueue: (key: ObjectKey, delay?: number) => void, signal: AbortSignal): void | Promise<void>;
}

/** The objects to reconcile when this one changes. */
export type MapFunction<T extends KubeObject> = (object: Live<T>) => Iterable<ObjectRef>;

/** Enqueues the result of `map` for each change; for an update, of the object before and after. */
export function informerSource<T extends KubeObject>(
  informer: AnyInformer,
  map: MapFunction<T>,
  accept: (change: Change<T>) => boolean,
): Source {
  return {
    start(enqueue, signal) {
      const stop = informer.subscribe((change: Change<T>) => {
        if (!accept(change)) return;
        for (const ref of map(change.object)) enqueue(keyOf(ref));
        if (change.type === 'updated') for (const ref of map(change.previous)) enqueue(keyOf(ref));
      });
      signal.addEventListener('abort', stop, { once: true });
    },
  };
}

/** Maps a child to its controlling owner if that is of the given kind. The API version may differ, the group may not. */
export function ownerMap<T extends KubeObject>(owner: AnyResource): MapFunction<T> {
  return (object) => {
    const reference = controllerOf(object);
    if (reference === undefined || reference.kind !== owner.kind) return [];
    const slash = reference.apiVersion.indexOf('/');
    if ((slash < 0 ? '' : reference.apiVersion.slice(0, slash)) !== groupOf(owner)) return [];
    const { namespace } = (object as Live).metadata;
    return [owner.namespaced ? { namespace, name: reference.name } : { name: reference.name }];
  };
}

/** A source that the program triggers: `trigger` may be called before and after the controller starts. */
export class ChannelSource implements Source {
  #enqueue: ((key: ObjectKey, delay?: number) => void) | undefined;
  /** A set, so that a replica that waits for leadership for weeks does not accumulate duplicates. */
  readonly #early = new Set<ObjectKey>();

  trigger(ref: ObjectRef): void {
    if (this.#enqueue === undefined) this.#early.add(keyOf(ref));
    else this.#enqueue(keyOf(ref));
  }

  start(enqueue: (key: ObjectKey, delay?: number) => void, signal: AbortSignal): void {
    this.#enqueue = enqueue;
    for (const key of this.#early) enqueue(key);
    this.#early.clear();
    signal.addEventListener('abort', () => {
      this.#enqueue = () => undefined;
    });
  }
}
