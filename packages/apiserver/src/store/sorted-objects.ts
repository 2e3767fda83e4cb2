/** The objects of one resource by key, with the keys kept in order so that lists and pages need no sorting. */
import type { KubeObject } from '../api/types.ts';

export class SortedObjects {
  readonly #byKey = new Map<string, KubeObject>();
  readonly #keys: string[] = [];

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): KubeObject | undefined {
    return this.#byKey.get(key);
  }

  set(key: string, object: KubeObject): void {
    if (!this.#byKey.has(key)) this.#keys.splice(this.#position(key), 0, key);
    this.#byKey.set(key, object);
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return;
    this.#keys.splice(this.#position(key), 1);
  }

  all(): KubeObject[] {
    return this.#objects(0, this.#keys.length);
  }

  /** Objects whose key begins with the prefix. */
  under(prefix: string): KubeObject[] {
    const from = this.#position(prefix);
    // The first key that is past every key with the prefix.
    const to = this.#position(`${prefix}\uffff`);
    return this.#objects(from, to);
  }

  #objects(from: number, to: number): KubeObject[] {
    const objects: KubeObject[] = [];
    for (let at = from; at < to; at += 1) {
      const object = this.#byKey.get(this.#keys[at] ?? '');
      if (object !== undefined) objects.push(object);
    }
    return objects;
  }

  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
