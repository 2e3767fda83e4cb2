/**
 * Caches the parsed elements of the last list with a digest of their bytes, so that the next list parses only what changed. Slurm has no
 * delta: after one change of 5,000 nodes it sends 12.8 MB of which 2.5 KB are new. A digest costs a twentieth of parsing, and the bytes
 * need not be kept. Keeps only one list.
 */
import { hash } from 'node:crypto';
import type { ElementSink } from './element-splitter.ts';

interface Kept<T> {
  readonly length: number;
  readonly digest: string;
  readonly item: T;
}

/** A cryptographic digest: the bytes contain text of users, and elements with an equal digest are not parsed. */
const digestOf = (bytes: Buffer) => hash('sha256', bytes, 'base64');

export class ListMemory<T> {
  readonly keyOf: (item: T) => string;
  #kept: readonly Kept<T>[] = [];
  #positions: ReadonlyMap<string, number> = new Map();
  /** Another reader (API version) may read the same bytes differently. */
  #reader: unknown;

  /** `keyOf` identifies an item, so that its place is found again after others were added or removed. */
  constructor(keyOf: (item: T) => string) {
    this.keyOf = keyOf;
  }

  /** The item at a place of the last list, if `reader` read it. */
  at(place: number, reader: unknown): Kept<T> | undefined {
    return reader === this.#reader ? this.#kept[place] : undefined;
  }

  placeOf(item: T): number | undefined {
    return this.#positions.get(this.keyOf(item));
  }

  replace(kept: readonly Kept<T>[], reader: unknown): void {
    this.#kept = kept;
    this.#positions = new Map(kept.map(({ item }, place) => [this.keyOf(item), place]));
    this.#reader = reader;
  }
}

/** One list while it is being read. Only `finish` updates the memory, so an aborted list has no effect. */
export class ListReading<T> implements ElementSink {
  readonly key: string;
  readonly items: T[] = [];
  readonly #read: (raw: unknown) => T;
  readonly #memory: ListMemory<T> | undefined;
  readonly #kept: Kept<T>[] = [];
  #place = 0;

  constructor(key: string, read: (raw: unknown) => T, memory?: ListMemory<T>) {
    this.key = key;
    this.#read = read;
    this.#memory = memory;
  }

  expected(): number | undefined {
    return this.#memory?.at(this.#place, this.#read)?.length;
  }

  isExpected(bytes: Buffer): boolean {
    const kept = this.#memory?.at(this.#place, this.#read);
    return kept !== undefined && kept.length === bytes.length && kept.digest === digestOf(bytes);
  }

  asExpected(): void {
    const kept = this.#memory?.at(this.#place, this.#read);
    if (kept === undefined) throw new Error('nothing was expected');
    this.items.push(kept.item);
    this.#kept.push(kept);
    this.#place += 1;
  }

  element(raw: unknown, bytes: Buffer): void {
    const item = this.#read(raw);
    this.items.push(item);
    if (this.#memory === undefined) return;
    this.#kept.push({ length: bytes.length, digest: digestOf(bytes), item });
    const place = this.#memory.placeOf(item);
    if (place !== undefined) this.#place = place + 1;
  }

  finish(): readonly T[] {
    this.#memory?.replace(this.#kept, this.#read);
    return this.items;
  }
}
