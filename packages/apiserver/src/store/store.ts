/**
 * The state of the server: objects, one counter of resourceVersions, and the history that watches replay.
 *
 * Objects are immutable once stored: a write stores a new object and hands out the same one to every reader, so
 * readers must clone before they change anything. Every write is synchronous, so that compare-and-swap is exact.
 */
import type { KubeObject } from '../api/types.ts';
import { History, type StoreEvent } from './history.ts';
import { SortedObjects } from './sorted-objects.ts';

export interface StoreSnapshot {
  readonly revision: number;
  readonly resources: Readonly<Record<string, readonly KubeObject[]>>;
}

export type WriteOutcome =
  | { readonly done: true; readonly object: KubeObject }
  | { readonly done: false; readonly why: 'exists' | 'missing' | 'conflict'; readonly current?: KubeObject };

export interface StoreOptions {
  /** Events kept for watches and for lists at an exact resourceVersion; older ones are compacted away. */
  readonly historyLimit?: number;
}

type Listener = (event: StoreEvent) => void;

/** The storage key of an object within its resource; its order is the order of lists. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export class Store {
  #revision = 0;
  readonly #resources = new Map<string, SortedObjects>();
  readonly #history: History;
  readonly #listeners = new Set<Listener>();
  readonly #resets = new Set<() => void>();

  constructor(options: StoreOptions = {}) {
    this.#history = new History(options.historyLimit ?? 20_000);
  }

  /** The resourceVersion of the newest write. */
  get revision(): number {
    return this.#revision;
  }

  /** Everything up to this resourceVersion has been forgotten. */
  get compactedRevision(): number {
    return this.#history.compactedRevision;
  }

  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.#resources.get(resource)?.get(objectKey(namespace, name));
  }

  /** All objects of a resource (`group/plural`), of one namespace if given, in key order. */
  list(resource: string, namespace?: string): readonly KubeObject[] {
    const objects = this.#resources.get(resource);
    if (objects === undefined) return [];
    return namespace === undefined || namespace === '' ? objects.all() : objects.under(`${namespace}/`);
  }

  count(resource: string): number {
    return this.#resources.get(resource)?.size ?? 0;
  }

  /** The names of all resources that hold objects. */
  resources(): string[] {
    return [...this.#resources.keys()].filter((resource) => this.count(resource) > 0);
  }

  /** The list as it was at a resourceVersion, or undefined when that has been compacted away. */
  listAt(resource: string, revision: number, namespace?: string): readonly KubeObject[] | undefined {
    if (revision < this.compactedRevision) return undefined;
    const later = this.#history.after(revision).filter((event) => event.resource === resource);
    if (later.length === 0) return this.list(resource, namespace);
    const state = new SortedObjects();
    for (const object of this.list(resource)) state.set(keyOf(object), object);
    for (const event of later.toReversed()) {
      if (event.previous === undefined) state.delete(keyOf(event.object));
      else state.set(keyOf(event.previous), event.previous);
    }
    return namespace === undefined || namespace === '' ? state.all() : state.under(`${namespace}/`);
  }

  create(resource: string, object: KubeObject): WriteOutcome {
    const objects = this.#of(resource);
    const key = keyOf(object);
    const current = objects.get(key);
    if (current !== undefined) return { done: false, why: 'exists', current };
    const stored = this.#stamp(object);
    objects.set(key, stored);
    this.#record({ revision: this.#revision, type: 'ADDED', resource, object: stored });
    return { done: true, object: stored };
  }

  /** Stores `object` in place of the one at its key, provided that one still has `expected` as resourceVersion. */
  replace(resource: string, object: KubeObject, expected: string): WriteOutcome {
    const objects = this.#of(resource);
    const key = keyOf(object);
    const previous = objects.get(key);
    if (previous === undefined) return { done: false, why: 'missing' };
    if (previous.metadata.resourceVersion !== expected)
      return { done: false, why: 'conflict', current: previous };
    const stored = this.#stamp(object);
    objects.set(key, stored);
    this.#record({ revision: this.#revision, type: 'MODIFIED', resource, object: stored, previous });
    return { done: true, object: stored };
  }

  /** Takes an object out; the outcome holds its last state with the resourceVersion of the deletion. */
  delete(resource: string, namespace: string | undefined, name: string, expected?: string): WriteOutcome {
    const objects = this.#of(resource);
    const key = objectKey(namespace, name);
    const previous = objects.get(key);
    if (previous === undefined) return { done: false, why: 'missing' };
    if (expected !== undefined && previous.metadata.resourceVersion !== expected)
      return { done: false, why: 'conflict', current: previous };
    const last = this.#stamp(previous);
    objects.delete(key);
    this.#record({ revision: this.#revision, type: 'DELETED', resource, object: last, previous });
    return { done: true, object: last };
  }

  /** Events after a resourceVersion, oldest first, or undefined when some of them have been compacted away. */
  eventsAfter(revision: number): readonly StoreEvent[] | undefined {
    return revision < this.compactedRevision ? undefined : this.#history.after(revision);
  }

  /** Calls the listener for every later write, in order, before the write returns. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener when the whole state has been replaced by a snapshot. */
  onRestore(listener: () => void): () => void {
    this.#resets.add(listener);
    return () => this.#resets.delete(listener);
  }

  /** Forgets the history up to a resourceVersion (all of it by default), as etcd compaction does. */
  compact(revision: number = this.#revision): void {
    this.#history.compact(revision);
  }

  /** The whole state; cheap, because stored objects never change. */
  snapshot(): StoreSnapshot {
    const resources: Record<string, readonly KubeObject[]> = {};
    for (const [resource, objects] of this.#resources)
      if (objects.size > 0) resources[resource] = objects.all();
    return { revision: this.#revision, resources };
  }

  /**
   * Replaces the whole state. The counter goes back with it, as after restoring an etcd backup, and the history
   * before it is gone. Listeners stay; those that track the state must use `onRestore`.
   */
  restore(snapshot: StoreSnapshot): void {
    this.#resources.clear();
    this.#revision = snapshot.revision;
    this.#history.reset(snapshot.revision);
    for (const [resource, objects] of Object.entries(snapshot.resources)) {
      const held = this.#of(resource);
      for (const object of objects) held.set(keyOf(object), object);
    }
    for (const listener of this.#resets) listener();
  }

  #of(resource: string): SortedObjects {
    let objects = this.#resources.get(resource);
    if (objects === undefined) {
      objects = new SortedObjects();
      this.#resources.set(resource, objects);
    }
    return objects;
  }

  #stamp(object: KubeObject): KubeObject {
    this.#revision += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } };
  }

  #record(event: StoreEvent): void {
    this.#history.add(event);
    for (const listener of this.#listeners) listener(event);
  }
}

function keyOf(object: KubeObject): string {
  return objectKey(object.metadata.namespace, object.metadata.name ?? '');
}
