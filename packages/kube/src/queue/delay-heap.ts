/** A binary heap of delayed entries, soonest first, from which any entry can be removed. */

export interface Waiting {
  due: number;
  /** Index in the heap, maintained by it; -1 if not in the heap. */
  place: number;
}

export class DelayHeap<E extends Waiting> {
  readonly #entries: E[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get soonest(): E | undefined {
    return this.#entries[0];
  }

  push(entry: E): void {
    entry.place = this.#entries.length;
    this.#entries.push(entry);
    this.#up(entry);
  }

  /** Call after you made `due` of an entry in the heap sooner. */
  sooner(entry: E): void {
    this.#up(entry);
  }

  remove(entry: E): void {
    const last = this.#entries.pop();
    if (last !== undefined && last !== entry) {
      last.place = entry.place;
      this.#entries[entry.place] = last;
      this.#up(last);
      this.#down(last);
    }
    entry.place = -1;
  }

  clear(): void {
    for (const entry of this.#entries) entry.place = -1;
    this.#entries.length = 0;
  }

  #up(entry: E): void {
    while (entry.place > 0) {
      const parent = this.#entries[(entry.place - 1) >> 1];
      if (parent === undefined || parent.due <= entry.due) return;
      this.#swap(entry, parent);
    }
  }

  #down(entry: E): void {
    for (;;) {
      const left = this.#entries[2 * entry.place + 1];
      const right = this.#entries[2 * entry.place + 2];
      const child = right !== undefined && left !== undefined && right.due < left.due ? right : left;
      if (child === undefined || child.due >= entry.due) return;
      this.#swap(child, entry);
    }
  }

  #swap(up: E, down: E): void {
    const place = down.place;
    down.place = up.place;
    up.place = place;
    this.#entries[up.place] = up;
    this.#entries[down.place] = down;
  }
}
