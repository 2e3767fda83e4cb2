/**
 * The work queue, with one entry per key:
 * - adding a queued key again does nothing; of several delays the smallest applies;
 * - a key that is being processed is never given to a second worker; if it is added meanwhile, it is processed again afterwards;
 * - keys are processed in the order in which they became ready, so none starves;
 * - all delays share one timer.
 */
import { type BackoffOptions, backoffDelay, type Clock, systemClock } from '../clock.ts';
import { DelayHeap, type Waiting } from './delay-heap.ts';

/** Callbacks for metrics. Durations are in seconds. */
export interface QueueObserver {
  depth(depth: number): void;
  added(): void;
  /** A worker got a key that had been ready for this long. */
  started(waited: number): void;
  finished(worked: number): void;
  retried(): void;
}

export interface QueueOptions {
  /** Back-off of failing keys. @default { initial: 5, limit: 1_000_000, jitter: 0.1 } */
  readonly backoff?: BackoffOptions;
  readonly clock?: Clock;
  readonly observer?: QueueObserver | undefined;
}

interface Entry extends Waiting {
  readonly key: string;
  state: 'ready' | 'delayed' | 'working';
  /** When it became ready, or when its processing began. */
  since: number;
  /** While it is processed: when to process it again; infinity: never. */
  again: number;
}

const BACKOFF: BackoffOptions = { initial: 5, limit: 1_000_000, jitter: 0.1 };

export class Queue {
  readonly #clock: Clock;
  readonly #backoff: BackoffOptions;
  readonly #observer: QueueObserver | undefined;
  readonly #entries = new Map<string, Entry>();
  readonly #failures = new Map<string, number>();
  readonly #delayed = new DelayHeap<Entry>();
  readonly #idle: ((key: string | undefined) => void)[] = [];
  #ready: Entry[] = [];
  #head = 0;
  #timer: { readonly due: number; readonly cancel: () => void } | undefined;
  #closed = false;

  constructor(options: QueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#backoff = options.backoff ?? BACKOFF;
    this.#observer = options.observer;
  }

  /** Number of keys that are ready. */
  get depth(): number {
    return this.#ready.length - this.#head;
  }

  get delayed(): number {
    return this.#delayed.size;
  }

  get working(): number {
    return this.#entries.size - this.depth - this.delayed;
  }

  /** Milliseconds for which the slowest key has been processed. */
  get longestWork(): number {
    let longest = 0;
    for (const entry of this.#entries.values())
      if (entry.state === 'working') longest = Math.max(longest, this.#clock.monotonic() - entry.since);
    return longest;
  }

  /** Sum of the milliseconds for which keys have been processed so far. */
  get unfinishedWork(): number {
    let sum = 0;
    for (const entry of this.#entries.values())
      if (entry.state === 'working') sum += this.#clock.monotonic() - entry.since;
    return sum;
  }

  add(key: string): void {
    if (this.#closed) return;
    this.#observer?.added();
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#makeReady(this.#enter(key));
    else if (entry.state === 'delayed') {
      this.#delayed.remove(entry);
      this.#makeReady(entry);
    } else if (entry.state === 'working') entry.again = Number.NEGATIVE_INFINITY;
  }

  /** Adds the key after a delay in milliseconds, unless it is due sooner. */
  addAfter(key: string, delay: number): void {
    if (!(delay > 0)) return this.add(key);
    if (this.#closed) return;
    const due = this.#clock.monotonic() + delay;
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#makeDelayed(this.#enter(key), due);
    else if (entry.state === 'delayed') {
      if (due >= entry.due) return;
      entry.due = due;
      this.#delayed.sooner(entry);
      this.#setTimer();
    } else if (entry.state === 'working') entry.again = Math.min(entry.again, due);
  }

  /** Adds the key after its own back-off, which grows with each call until {@link forget}. Returns the delay. */
  addRateLimited(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const delay = backoffDelay(this.#backoff, failures, this.#clock);
    this.#observer?.retried();
    this.addAfter(key, delay);
    return delay;
  }

  /** Resets the back-off of the key. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, or undefined when the queue is closed and empty. Call {@link done} for each key. */
  get(): Promise<string | undefined> {
    const key = this.tryGet();
    if (key !== undefined || this.#closed) return Promise.resolve(key);
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Like get, but does not wait. */
  tryGet(): string | undefined {
    const entry = this.#ready[this.#head];
    if (entry === undefined) return undefined;
    this.#head += 1;
    // The array is sliced now and then; a shift for each key would copy it each time.
    if (this.#head >= 1024 && this.#head * 2 >= this.#ready.length) {
      this.#ready = this.#ready.slice(this.#head);
      this.#head = 0;
    }
    return this.#handOut(entry);
  }

  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.state !== 'working')
      throw new TypeError(`done("${key}") for a key that is not being processed`);
    const now = this.#clock.monotonic();
    this.#observer?.finished((now - entry.since) / 1000);
    if (entry.again === Number.POSITIVE_INFINITY || (this.#closed && entry.again > now))
      this.#entries.delete(key);
    else if (entry.again <= now) this.#makeReady(entry);
    else this.#makeDelayed(entry, entry.again);
  }

  /** Accepts no more keys. Ready keys are still processed; delayed keys are dropped. */
  close(): void {
    this.#closed = true;
    while (this.#delayed.soonest !== undefined) {
      this.#entries.delete(this.#delayed.soonest.key);
      this.#delayed.remove(this.#delayed.soonest);
    }
    this.#setTimer();
    for (const resolve of this.#idle.splice(0)) resolve(undefined);
  }

  /** Drops the ready keys too. */
  clear(): void {
    for (const entry of this.#ready.slice(this.#head)) this.#entries.delete(entry.key);
    this.#ready = [];
    this.#head = 0;
    this.#observer?.depth(0);
  }

  #enter(key: string): Entry {
    const entry: Entry = {
      key,
      state: 'ready',
      since: 0,
      again: Number.POSITIVE_INFINITY,
      due: 0,
      place: -1,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  #makeReady(entry: Entry): void {
    entry.state = 'ready';
    entry.since = this.#clock.monotonic();
    const idle = this.#idle.shift();
    if (idle !== undefined) {
      idle(this.#handOut(entry));
      return;
    }
    this.#ready.push(entry);
    this.#observer?.depth(this.depth);
  }

  #handOut(entry: Entry): string {
    const now = this.#clock.monotonic();
    this.#observer?.depth(this.depth);
    this.#observer?.started((now - entry.since) / 1000);
    entry.state = 'working';
    entry.since = now;
    entry.again = Number.POSITIVE_INFINITY;
    return entry.key;
  }

  #makeDelayed(entry: Entry, due: number): void {
    entry.state = 'delayed';
    entry.due = due;
    this.#delayed.push(entry);
    this.#setTimer();
  }

  #setTimer(): void {
    const due = this.#delayed.soonest?.due;
    if (this.#timer?.due === due) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (due === undefined) return;
    const cancel = this.#clock.after(due - this.#clock.monotonic(), () => this.#releaseDue());
    this.#timer = { due, cancel };
  }

  #releaseDue(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    for (
      let entry = this.#delayed.soonest;
      entry !== undefined && entry.due <= now;
      entry = this.#delayed.soonest
    ) {
      this.#delayed.remove(entry);
      this.#makeReady(entry);
    }
    this.#setTimer();
  }
}
