/**
 * The rules by which a local copy follows the server. Three voices speak: lists, watch events, and the answers to our own
 * writes; they arrive in any order relative to each other. No I/O and no clock, so the law can be tested: whatever the
 * order, the copy never goes back in time and ends equal to the server.
 *
 * - Within one resource type resourceVersions order all states, and a watch delivers them in that order.
 * - An answer to a write counts only if it is newer than everything the watch has delivered; else the watch knows better.
 * - What we deleted stays deleted: late events of that uid are not believed.
 * - Another uid under the same name is another object: the one before is told as deleted, the new one as added.
 * - A list is the truth as of its moment, even if its numbers went back (a restored server). Only answers that came
 *   after the list was begun may overrule it.
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
  /** The namespace this copy is of; undefined: all of them. */
  readonly namespace?: string | undefined;
  /** Whether an object belongs in the copy at all (selectors). */
  readonly matches: (object: Live<T>) => boolean;
  readonly transform: (object: Live<T>) => Live<T>;
  readonly onChange: (change: Change<T>) => void;
}

/** A list being received; it replaces the copy when it is complete. */
interface Listing<T extends KubeObject> {
  readonly objects: Map<ObjectKey, Live<T>>;
  /** Own writes answered since the list was begun. */
  readonly written: Map<ObjectKey, { readonly object: Live<T>; readonly belongs: boolean }>;
  /** Uids whose delete was answered since. */
  readonly gone: Set<string>;
}

/** So many ends of objects are remembered between two lists. To forget one costs a moment of doubt, no more. */
const MEMORY = 10_000;

export class Replica<T extends KubeObject> {
  readonly #options: ReplicaOptions<T>;
  readonly #store: Store<T>;
  /** Uids that are no more. */
  readonly #tombstones = new Set<string>();
  /** Keys of which nothing belongs here as of a version: what is not newer is not believed. */
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

  /** How many ends of objects are remembered. */
  get buried(): number {
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
    // Sharing the object that is there spares the memory of a second copy during a relist.
    const same = known !== undefined && sameState(known, object);
    const kept = same ? known : this.#options.transform(object);
    listing.objects.set(key, kept);
    // The first list goes straight into the store: nothing is promised yet, and all at its end would take too long at once.
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
    if (listing === undefined) throw new TypeError('a list was ended that was never begun');
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
    // What ended before the list was begun cannot be told of again after it.
    for (const uid of this.#tombstones) if (!listing.gone.has(uid)) this.#tombstones.delete(uid);
    this.#progress = resourceVersion;
    for (const key of this.#store.keys(this.#options.namespace))
      if (!listing.objects.has(key)) this.#remove(key);
    for (const [key, object] of listing.objects) this.#put(key, object);
  }

  /** Takes a watch event. `false`: it does not fit what we hold, so events were lost and a list should repair that. */
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Live<T>): boolean {
    const { uid, resourceVersion } = object.metadata;
    if (this.#progress === '' || compareResourceVersions(resourceVersion, this.#progress) > 0)
      this.#progress = resourceVersion;
    const key = keyOf(object);
    const known = this.#store.get(key);
    const order =
      known === undefined ? 1 : compareResourceVersions(resourceVersion, known.metadata.resourceVersion);
    if (type === 'DELETED') {
      // An object that only left the selection is told of in the same way, so the tombstone of a real end stays.
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

  /** Takes the answer to one of our writes. The watch may have told of it already: then there is nothing to keep of it. */
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
    // Answers may overtake each other: this one may be of an object whose delete was answered before.
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

  /** Takes the answer to a delete: the object of this uid is no more, whether or not we have heard of it yet. */
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

  /** Whether this state of the object is known to be past. */
  #isPast(key: ObjectKey, { metadata: { uid, resourceVersion } }: Live<T>): boolean {
    if (this.#tombstones.has(uid)) return true;
    const floor = this.#floors.get(key);
    return floor !== undefined && compareResourceVersions(resourceVersion, floor) <= 0;
  }

  #put(key: ObjectKey, object: Live<T>): void {
    const known = this.#store.get(key);
    if (known !== undefined && sameState(known, object)) return;
    const previous = known?.metadata.uid === object.metadata.uid ? known : undefined;
    // Another object may have taken the name while nobody looked: nothing else will tell of the end of the one before.
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
