/** The bounded tail of writes that watches replay from. */
import type { KubeObject } from '../api/types.ts';

export interface StoreEvent {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `group/plural`. */
  readonly resource: string;
  /** The object after the write; for DELETED its last content with the resourceVersion of the deletion. */
  readonly object: KubeObject;
  /** The object before the write. */
  readonly previous?: KubeObject;
}

export class History {
  readonly #limit: number;
  #events: StoreEvent[] = [];
  #compacted = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get compactedRevision(): number {
    return this.#compacted;
  }

  add(event: StoreEvent): void {
    this.#events.push(event);
    // Trimmed in steps, so that the cost per write stays constant.
    if (this.#events.length > this.#limit * 1.25) {
      const cut = this.#events.length - this.#limit;
      this.#compacted = this.#events[cut - 1]?.revision ?? this.#compacted;
      this.#events = this.#events.slice(cut);
    }
  }

  after(revision: number): readonly StoreEvent[] {
    return this.#events.slice(this.#firstAfter(revision));
  }

  compact(revision: number): void {
    if (revision <= this.#compacted) return;
    this.#events = this.#events.slice(this.#firstAfter(revision));
    this.#compacted = revision;
  }

  reset(revision: number): void {
    this.#events = [];
    this.#compacted = revision;
  }

  #firstAfter(revision: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
