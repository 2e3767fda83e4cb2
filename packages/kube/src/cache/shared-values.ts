/**
 * Equal values become one: of a thousand lists of conditions that say the same only one is kept, and of those that differ in a time
 * all but that condition. Knows values by a number made of their text, so that the text need not be kept as well.
 */

/** So many values are remembered, and as many again that were not met for a while. What is forgotten is shared anew. */
const GENERATION = 16_384;

export class SharedValues {
  #young = new Map<number | string, unknown>();
  #old = new Map<number | string, unknown>();
  readonly #generation: number;

  constructor(generation: number = GENERATION) {
    this.#generation = generation;
  }

  /** A value equal to this one: the first one that was seen. Callers must not change it. */
  share<T>(value: T): T {
    if (typeof value === 'string') {
      const known = this.#find(value);
      return (known ?? this.#keep(value, value)) as T;
    }
    if (typeof value !== 'object' || value === null) return value;
    const text = JSON.stringify(value);
    const key = numberOf(text);
    const known = this.#find(key);
    if (known !== undefined && JSON.stringify(known) === text) return known as T;
    return this.#keep(key, this.#partsShared(value)) as T;
  }

  #partsShared(value: object): object {
    if (Array.isArray(value)) return value.map((part: unknown) => this.share(part));
    // In place of the parts: the object itself is new, and keeps its layout.
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) fields[name] = this.share(fields[name]);
    return fields;
  }

  #find(key: number | string): unknown {
    const known = this.#young.get(key);
    if (known !== undefined) return known;
    const older = this.#old.get(key);
    return older === undefined ? undefined : this.#keep(key, older);
  }

  #keep(key: number | string, value: unknown): unknown {
    if (this.#young.size >= this.#generation) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
    return value;
  }
}

/** FNV-1a. Two texts may have the same number, so an equal number proves nothing. */
function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
