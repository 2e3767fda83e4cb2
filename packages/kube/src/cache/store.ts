/** Objects by key, with indexes. It does not decide which state is newer. */
import { type DeepReadonly, type KubeObject, keyOf, type Live, type ObjectKey } from '../objects/object.ts';

/** The values under which an object is found. Must be a function of the object alone. */
export type Indexer<T extends KubeObject> = (object: Live<T>) => readonly string[];

interface Index<T extends KubeObject> {
  readonly indexer: Indexer<T>;
  readonly buckets: Map<string, Set<ObjectKey>>;
}

const BY_NAMESPACE = 'namespace';

export class Store<T extends KubeObject> {
  readonly #objects = new Map<ObjectKey, Live<T>>();
  readonly #indexes = new Map<string, Index<T>>();

  constructor() {
    this.addIndex(BY_NAMESPACE, (object) => [(object as DeepReadonly<KubeObject>).metadata.namespace ?? '']);
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): Live<T> | undefined {
    return this.#objects.get(key);
  }

  /** A snapshot, in no particular order. */
  list(namespace?: string): Live<T>[] {
    return namespace === undefined ? [...this.#objects.values()] : this.byIndex(BY_NAMESPACE, namespace);
  }

  keys(namespace?: string): ObjectKey[] {
    if (namespace === undefined) return [...this.#objects.keys()];
    return [...(this.#indexes.get(BY_NAMESPACE)?.buckets.get(namespace) ?? [])];
  }

  byIndex(name: string, value: string): Live<T>[] {
    const index = this.#indexes.get(name);
    if (index === undefined)
      throw new TypeError(`no index "${name}"; known: ${[...this.#indexes.keys()].join(', ')}`);
    const found: Live<T>[] = [];
    for (const key of index.buckets.get(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  addIndex(name: string, indexer: Indexer<T>): void {
    if (this.#indexes.has(name)) throw new TypeError(`index "${name}" already exists`);
    const index: Index<T> = { indexer, buckets: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) file(index, key, object);
  }

  /** `key`: pass it if you have it, so that one string is shared. */
  set(object: Live<T>, key: ObjectKey = keyOf(object)): Live<T> | undefined {
    const previous = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (previous !== undefined) unfile(index, key, previous);
      file(index, key, object);
    }
    return previous;
  }

  delete(key: ObjectKey): Live<T> | undefined {
    const previous = this.#objects.get(key);
    if (previous === undefined) return undefined;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) unfile(index, key, previous);
    return previous;
  }
}

function file<T extends KubeObject>(index: Index<T>, key: ObjectKey, object: Live<T>): void {
  for (const value of index.indexer(object)) {
    const bucket = index.buckets.get(value);
    if (bucket === undefined) index.buckets.set(value, new Set([key]));
    else bucket.add(key);
  }
}

function unfile<T extends KubeObject>(index: Index<T>, key: ObjectKey, object: Live<T>): void {
  for (const value of index.indexer(object)) {
    const bucket = index.buckets.get(value);
    bucket?.delete(key);
    if (bucket?.size === 0) index.buckets.delete(value);
  }
}
