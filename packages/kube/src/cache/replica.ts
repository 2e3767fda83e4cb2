/**
 * The rules by which a local copy follows the server. It has three sources: lists, watch events, and the responses to our own writes;
 * they arrive in any order relative to each other. No I/O and no clock, so that a property test can check: in any order, the copy never
 * goes back in time and ends equal to the server.
 *
 * - Within one resource type resourceVersions order all states, and a watch delivers them in that order.
 * - A response to a write is used only if it is newer than everything the watch has delivered.
 * - A deleted object stays deleted: late events of its uid are ignored.
 * - Another uid with the same name is another object: the old one is reported as deleted, the new one as added.
 * - A list replaces the copy, even if its resourceVersion is lower (a restored server). Only responses to writes that arrived after the
 *   list began take precedence.
 */
import {
  compareResourceVersions,
  type KubeObject,
  keyOf,
  type Live,
  type ObjectKey,
  type ObjectRef,
} from '../objects/object.ts';
import type { Store } from './store.ts';

export type Change<T extends KubeObject = KubeObject> =
  | { readonly type: 'added'; readonly key: ObjectKey; readonly object: Live<T> }
  | {
      readonly type: 'updated';
      readonly key: ObjectKey;
      readonly object: Live<T>;
      readonly previous: Live<T>;
    }
  | { readonly type: 'deleted'; readonly key: ObjectKey; readonly object: Live<T> };

export interface ReplicaOptions<T extends KubeObject> {
  readonly store: Store<T>;
  /** The namespace of this copy; undefined: all namespaces. */
  readonly namespace?: string | undefined;
  /** Whether an object belongs in the copy (selectors). */
  readonly matches: (object: Live<T>) => boolean;
  readonly transform: (object: Live<T>) => Live<T>;
  readonly onChange: (change: Change<T>) => void;
}

/** A list being received; it replaces the copy when it is complete. */
interface Listing<T extends KubeObject> {
  readonly objects: Map<ObjectKey, Live<T>>;
  /** Responses to our writes since the list began. */
  readonly written: Map<ObjectKey, { readonly object: Live<T>; readonly belongs: boolean }>;
  /** Uids of objects whose delete completed since the list began. */
  readonly gone: Set<string>;
}

/** Maximum number of tombstones between two lists. Losing one can at worst show a stale object for a moment. */
const MEMORY = 10_000;

export class Replica<T extends KubeObject> {
  readonly #options: ReplicaOptions<T>;
  readonly #store: Store<T>;
  /** Uids of deleted objects. */
  readonly #tombstones = new Set<string>();
  /** By key, the resourceVersion at which the object left the copy: only newer states are accepted. */
  readonly #floors = new Map<ObjectKey, string>();
  #listing: Listing<T> | undefined;
  #progress = '';

  constructor(options: ReplicaOptions<T>) {
    this.#options = options;
    this.#store = options.store;
  }

  /** The resourceVersion to watch from: everything up to it is in the copy. Empty: nothing listed yet. */
  get progress(): string {
    return this.#progress;
  }

  /** Number of remembered deletions. */
  get tombstoneCount(): number {
    return this.#tombstones.size + this.#floors.size;
  }

  beginList(): void {
    this.#listing = { objects: new Map(), written: new Map(), gone: new Set() };
  }

  listed(object: Live<T>): void {
    const listing = this.#listing;
    if (listing === undefined) return;
    const key = keyOf(object);
    const known = this.#store.get(key);
    // Reusing the cached object avoids a second copy in memory during a relist.
    const same = known !== undefined && sameState(known, object);
    const kept = same ? known : this.#options.transform(object);
    listing.objects.set(key, kept);
    // The first list goes directly into the store: to store all objects at its end would block the event loop.
    if (this.#progress === '' && !listing.gone.has(object.metadata.uid)) this.#put(key, kept);
  }

  unlisted(object: Live<T>): void {
    this.#listing?.objects.delete(keyOf(object));
  }

  abandonList(): void {
    this.#listing = undefined;
  }

  endList(resourceVersion: string): void {
    const listing = this.#listing;
    if (listing === undefined) throw new TypeError('endList without beginList');
    this.#listing = undefined;
    this.#floors.clear();
    for (const [key, { object, belongs }] of listing.written) {
      if (compareResourceVersions(object.metadata.resourceVersion, resourceVersion) <= 0) continue;
      if (belongs) {
        listing.objects.set(key, object);
        continue;
      }
      listing.objects.delete(key);
      this.#raiseFloor(key, object);
    }
    for (const [key, object] of listing.objects) {
      if (!listing.gone.has(object.metadata.uid)) continue;
      listing.objects.delete(key);
      this.#raiseFloor(key, object);
    }
    // The watch that follows cannot report objects that were deleted before the list began.
    for (const uid of this.#tombstones) if (!listing.gone.has(uid)) this.#tombstones.delete(uid);
    this.#progress = resourceVersion;
    for (const key of this.#store.keys(this.#options.namespace))
      if (!listing.objects.has(key)) this.#remove(key);
    for (const [key, object] of listing.objects) this.#put(key, object);
  }

  /** Takes a watch event. `false`: it is inconsistent with the copy, so events were lost and a new list is needed. */
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Live<T>): boolean {
    const { uid, resourceVersion } = object.metadata;
    if (this.#progress === '' || compareResourceVersions(resourceVersion, this.#progress) > 0)
      this.#progress = resourceVersion;
    const key = keyOf(object);
    const known = this.#store.get(key);
    const order =
      known === undefined ? 1 : compareResourceVersions(resourceVersion, known.metadata.resourceVersion);
    if (type === 'DELETED') {
      // DELETED is also sent for an object that only left the selection, so the tombstone of a real deletion stays.
      const expected = this.#tombstones.has(uid) || known !== undefined;
      if (order >= 0) this.#remove(key);
      return expected;
    }
    if (this.#isPast(key, object)) return true;
    if (order > 0) this.#put(key, this.#options.transform(object));
    return known !== undefined || type === 'ADDED';
  }

  bookmark(resourceVersion: string): void {
    this.#progress = resourceVersion;
  }

  /** Takes the response to a write. It is ignored if the watch has delivered the same or a newer state. */
  written(answer: Live<T>): void {
    const { resourceVersion } = answer.metadata;
    const key = keyOf(answer);
    const latest = this.#store.get(key)?.metadata.resourceVersion ?? this.#progress;
    const isNews = this.#progress !== '' && compareResourceVersions(resourceVersion, latest) > 0;
    const earlier = this.#listing?.written.get(key)?.object.metadata.resourceVersion;
    const outlivesList =
      this.#listing !== undefined &&
      (earlier === undefined || compareResourceVersions(earlier, resourceVersion) < 0);
    if (!isNews && !outlivesList) return;
    // Responses may arrive out of order: the object may have been deleted by a request that completed before.
    const belongs = !this.#isPast(key, answer) && this.#options.matches(answer);
    const object = this.#options.transform(answer);
    if (outlivesList) this.#listing?.written.set(key, { object, belongs });
    if (!isNews) return;
    if (belongs) {
      this.#put(key, object);
      return;
    }
    this.#raiseFloor(key, object);
    this.#remove(key);
  }

  /** Takes the response to a delete: the object with this uid is gone, even if the watch has not reported it yet. */
  gone(ref: ObjectRef, uid: string | undefined): void {
    if (uid === undefined) return;
    this.#listing?.gone.add(uid);
    this.#tombstones.add(uid);
    forgetOldest(this.#tombstones);
    const key = keyOf(ref);
    const known = this.#store.get(key);
    if (known?.metadata.uid !== uid) return;
    this.#raiseFloor(key, known);
    this.#remove(key);
  }

  #raiseFloor(key: ObjectKey, { metadata: { resourceVersion } }: Live<T>): void {
    const floor = this.#floors.get(key);
    if (floor !== undefined && compareResourceVersions(floor, resourceVersion) >= 0) return;
    this.#floors.set(key, resourceVersion);
    forgetOldest(this.#floors);
  }

  /** Whether this state of the object is known to be stale. */
  #isPast(key: ObjectKey, { metadata: { uid, resourceVersion } }: Live<T>): boolean {
    if (this.#tombstones.has(uid)) return true;
    const floor = this.#floors.get(key);
    return floor !== undefined && compareResourceVersions(resourceVersion, floor) <= 0;
  }

  #put(key: ObjectKey, object: Live<T>): void {
    const known = this.#store.get(key);
    if (known !== undefined && sameState(known, object)) return;
    const previous = known?.metadata.uid === object.metadata.uid ? known : undefined;
    // Another object may have the name now: then nothing else reports the deletion of the previous one.
    if (previous === undefined) this.#remove(key);
    this.#store.set(object, key);
    this.#floors.delete(key);
    this.#options.onChange(
      previous === undefined ? { type: 'added', key, object } : { type: 'updated', key, object, previous },
    );
  }

  #remove(key: ObjectKey): void {
    const object = this.#store.delete(key);
    if (object !== undefined) this.#options.onChange({ type: 'deleted', key, object });
  }
}

function sameState(left: Live, right: Live): boolean {
  return (
    left.metadata.uid === right.metadata.uid &&
    left.metadata.resourceVersion === right.metadata.resourceVersion
  );
}

function forgetOldest(memory: Set<string> | Map<string, string>): void {
  if (memory.size > MEMORY) memory.delete(memory.keys().next().value ?? '');
}
