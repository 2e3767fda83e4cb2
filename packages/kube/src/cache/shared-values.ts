/**
 * Interns equal values: of a thousand equal lists of conditions only one is kept, and lists that differ in one condition share the
 * others. Values are looked up by a hash of their JSON, so that the JSON need not be kept.
 */

/** Size of each of the two generations. A value that is dropped is interned again when it next occurs. */
const GENERATION = 16_384;

export class SharedValues {
  #recent = new Map<number | string, unknown>();
  #old = new Map<number | string, unknown>();
  readonly #generation: number;

  constructor(generation: number = GENERATION) {
    this.#generation = generation;
  }

  /** The first value that was equal to this one. Callers must not change it. */
  share<T>(value: T): T {
    if (typeof value === 'string') {
      const known = this.#find(value);
      return (known ?? this.#keep(value, value)) as T;
    }
    if (typeof value !== 'object' || value === null) return value;
    const text = JSON.stringify(value);
    const key = hashOf(text);
    const known = this.#find(key);
    if (known !== undefined && JSON.stringify(known) === text) return known as T;
    return this.#keep(key, this.#partsShared(value)) as T;
  }

  #partsShared(value: object): object {
    if (Array.isArray(value)) return value.map((part: unknown) => this.share(part));
    // The object itself is new: changing it in place keeps its hidden class.
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) fields[name] = this.share(fields[name]);
    return fields;
  }

  #find(key: number | string): unknown {
    const known = this.#recent.get(key);
    if (known !== undefined) return known;
    const older = this.#old.get(key);
    return older === undefined ? undefined : this.#keep(key, older);
  }

  #keep(key: number | string, value: unknown): unknown {
    if (this.#recent.size >= this.#generation) {
      this.#old = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
    return value;
  }
}

/** FNV-1a. Different texts may have the same hash, so callers compare the values as well. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
