/**
 * Remembers the elements of the last list as bytes and as what was read from them, so that the next list reads only what
 * changed. Slurm has no delta: one changed node of 5,000 brings 12.8 MB of which 2.5 KB are new. Comparing bytes costs a
 * hundredth of parsing them. Holds one list, never more.
 */
import type { ElementSink } from './element-splitter.ts';

interface Kept<T> {
  readonly bytes: Buffer;
  readonly item: T;
}

export class ListMemory<T> {
  readonly keyOf: (item: T) => string;
  #kept: readonly Kept<T>[] = [];
  #positions: ReadonlyMap<string, number> = new Map();
  /** The same bytes mean something else to another reader. */
  #reader: unknown;

  /** `keyOf` names an item, so that its place is found again when others came or went. */
  constructor(keyOf: (item: T) => string) {
    this.keyOf = keyOf;
  }

  /** What stands at a place of the last list, if `reader` read it. */
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

/** One list while it is being read. What an aborted one saw is forgotten: only `finish` remembers. */
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

  expected(): Buffer | undefined {
    return this.#memory?.at(this.#place, this.#read)?.bytes;
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
    // A copy: what arrived is a slice of something larger that must not be held by it.
    this.#kept.push({ bytes: Buffer.from(bytes), item });
    const place = this.#memory.placeOf(item);
    if (place !== undefined) this.#place = place + 1;
  }

  finish(): readonly T[] {
    this.#memory?.replace(this.#kept, this.#read);
    return this.items;
  }
}
