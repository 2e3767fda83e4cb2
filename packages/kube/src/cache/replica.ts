/**
 * The rules by which a local copy follows the server. Three voices speak: lists, watch events, and the answers to our own
 * writes; they arrive in any order relative to each other. No I/O and no clock, so the law can be tested: whatever the
 * order, the copy never goes back in time and ends equal to the server.
 *
 * - Within one resource type resourceVersions order all states, and a watch delivers them in that order.
 * - An answer to a write counts only if it is newer than everything the watch has delivered; else the watch knows better.
 * - What we deleted stays deleted: late events of that uid are not believed.
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
} from '../object.ts';
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
  readonly written: Map<ObjectKey, Live<T>>;
  readonly gone: Set<string>;
}

/** Until which resourceVersion events of a uid are not believed; undefined: for ever. */
interface Tombstone {
  readonly until: string | undefined;
}

export class Replica<T extends KubeObject> {
  readonly #options: ReplicaOptions<T>;
  readonly #store: Store<T>;
  readonly #tombstones = new Map<string, Tombstone>();
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

  /** How many deletes of ours the watch has yet to confirm. */
  get unconfirmed(): number {
    return this.#tombstones.size;
  }

  beginList(): void {
    this.#listing = { objects: new Map(), written: new Map(), gone: new Set() };
  }

  listed(object: Live<T>): void {
    const key = keyOf(object);
    const known = this.#store.get(key);
    // Sharing the object that is there spares the memory of a second copy during a relist.
    const same = known !== undefined && sameState(known, object);
    this.#listing?.objects.set(key, same ? known : this.#options.transform(object));
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
    for (const [key, object] of listing.written) {
      const isNewer = compareResourceVersions(object.metadata.resourceVersion, resourceVersion) > 0;
      if (!isNewer) continue;
      if (this.#options.matches(object)) listing.objects.set(key, object);
      else listing.objects.delete(key);
    }
    // Deletes answered since the list was begun: the list may still show the object, and then its end is yet to be told.
    const shown = new Set<string>();
    for (const [key, object] of listing.objects) {
      const { uid } = object.metadata;
      if (!listing.gone.has(uid)) continue;
      shown.add(uid);
      listing.objects.delete(key);
    }
    for (const uid of this.#tombstones.keys()) if (!shown.has(uid)) this.#tombstones.delete(uid);
    this.#progress = resourceVersion;
    for (const key of this.#store.keys(this.#options.namespace))
      if (!listing.objects.has(key)) this.#remove(key);
    for (const object of listing.objects.values()) this.#put(object);
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
      const expected = this.#tombstones.delete(uid) || known !== undefined;
      if (order >= 0) this.#remove(key);
      return expected;
    }
    const tombstone = this.#tombstones.get(uid);
    if (tombstone !== undefined) {
      if (tombstone.until === undefined || compareResourceVersions(resourceVersion, tombstone.until) <= 0)
        return true;
      this.#tombstones.delete(uid);
    }
    if (order > 0) this.#put(this.#options.transform(object));
    return known !== undefined || type === 'ADDED';
  }

  bookmark(resourceVersion: string): void {
    this.#progress = resourceVersion;
  }

  /** Takes the answer to one of our writes. */
  written(answer: Live<T>): void {
    const { resourceVersion, uid } = answer.metadata;
    const key = keyOf(answer);
    const object = this.#options.transform(answer);
    this.#listing?.written.set(key, object);
    if (this.#progress === '' || compareResourceVersions(resourceVersion, this.#progress) <= 0) return;
    const known = this.#store.get(key);
    if (known !== undefined && compareResourceVersions(resourceVersion, known.metadata.resourceVersion) <= 0)
      return;
    if (this.#options.matches(answer)) {
      this.#tombstones.delete(uid);
      this.#put(object);
    } else if (known !== undefined) {
      this.#tombstones.set(uid, { until: resourceVersion });
      this.#remove(key);
    }
  }

  /** Takes the answer to a delete: the object of this uid is no more. */
  gone(ref: ObjectRef, uid: string | undefined): void {
    if (uid === undefined) return;
    const key = keyOf(ref);
    if (this.#listing !== undefined) {
      this.#listing.gone.add(uid);
      if (this.#listing.written.get(key)?.metadata.uid === uid) this.#listing.written.delete(key);
    }
    if (this.#store.get(key)?.metadata.uid !== uid) return;
    this.#tombstones.set(uid, { until: undefined });
    this.#remove(key);
  }

  #put(object: Live<T>): void {
    const key = keyOf(object);
    const previous = this.#store.get(key);
    if (previous !== undefined && sameState(previous, object)) return;
    this.#store.set(object);
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
