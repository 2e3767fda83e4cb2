/** Counts how often something is read, so that a test can tell work that grows with the square of a list from work that does not. */

export class CountedReads {
  count = 0;

  /** The same array, whose elements and their fields are counted as they are read. */
  list<T extends object>(items: readonly T[]): readonly T[] {
    return this.#watched(items.map((item) => this.#watched(item)));
  }

  map<T extends object>(entries: Iterable<readonly [string, T]>): ReadonlyMap<string, T> {
    return new CountedMap(
      [...entries].map(([key, item]) => [key, this.#watched(item)] as const),
      () => void (this.count += 1),
    );
  }

  #watched<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (of, field, receiver) => {
        this.count += 1;
        return Reflect.get(of, field, receiver) as unknown;
      },
    });
  }
}

class CountedMap<T> extends Map<string, T> {
  readonly #read: () => void;

  constructor(entries: Iterable<readonly [string, T]>, read: () => void) {
    super();
    for (const [key, item] of entries) super.set(key, item);
    this.#read = read;
  }

  override get(key: string): T | undefined {
    this.#read();
    return super.get(key);
  }

  override has(key: string): boolean {
    this.#read();
    return super.has(key);
  }

  override *entries(): MapIterator<[string, T]> {
    for (const entry of super.entries()) {
      this.#read();
      yield entry;
    }
    return undefined;
  }

  override *values(): MapIterator<T> {
    for (const [, item] of this.entries()) yield item;
    return undefined;
  }

  override *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
    return undefined;
  }

  override [Symbol.iterator](): MapIterator<[string, T]> {
    return this.entries();
  }
}
