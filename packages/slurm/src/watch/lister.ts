/**
 * Polls one kind of object: one list at a time, faster while a caller waits, with a view of what is known and since when. Independent
 * of nodes and jobs; `fetch` reads those.
 */
import { type Clock, sleep, systemClock } from '../clock.ts';
import { ProtocolError, SlurmError, Timeout, Unavailable } from '../errors.ts';
import type { ListCost, Pace, Waiting } from './pace.ts';
import type { Known, Unknown, View } from './view.ts';

export interface Fetched<Content> {
  readonly content: Content;
  readonly beganAt: number;
  /** Size of the list; 0 if Slurm responded "unchanged". */
  readonly bytes: number;
  /** How many it was made of. @default 1 */
  readonly requests?: number;
}

export interface ListerOptions<Content> {
  /** Name of the objects, for messages. */
  readonly name: string;
  /**
   * Lists once. Receives the last known content, and whether there was an outage since: then Slurm may be another one, or
   * its clock may have changed, and "unchanged" means nothing.
   */
  fetch(last: Known<Content> | undefined, signal: AbortSignal, lost: boolean): Promise<Fetched<Content>>;
  readonly pace: Pace;
  /** Milliseconds until the circuit breaker allows the next call. */
  readonly blockedMs?: () => number;
  /** Receives errors of listeners. Default: ignored. */
  readonly onListenerError?: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export type ViewListener<Content> = (view: View<Content>, before: View<Content>) => void;

export interface ListSinceOptions {
  readonly signal?: AbortSignal;
  /** Default 30 s. */
  readonly timeoutMs?: number;
}

interface Waiter<Content> {
  readonly moment: number;
  resolve(known: Known<Content>): void;
}

/** Minimum time between the beginning of two lists. */
const floorMs = 50;

export class Lister<Content extends object> {
  readonly #options: ListerOptions<Content>;
  readonly #clock: Clock;
  readonly #listeners = new Set<ViewListener<Content>>();
  readonly #waiters = new Set<Waiter<Content>>();
  #view: View<Content>;
  readonly #fastHolds = { changes: 0, jobs: 0 };
  #cost: ListCost = { bytes: 0, tookMs: 0, requests: 1 };
  #stop: AbortController | undefined;
  #done: Promise<void> = Promise.resolve();
  /** Ends the pause between two lists. */
  #wake: AbortController = new AbortController();

  constructor(options: ListerOptions<Content>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#view = {
      kind: 'unknown',
      since: this.#clock.now(),
      why: { code: 'NotYetListed', message: `${options.name} have not been listed yet` },
      last: undefined,
    };
  }

  get view(): View<Content> {
    return this.#view;
  }

  start(): void {
    if (this.#stop !== undefined) return;
    this.#stop = new AbortController();
    this.#done = this.#run(this.#stop.signal);
  }

  /** Stops polling; resolves when the last list has ended. */
  async stop(): Promise<void> {
    this.#stop?.abort(new DOMException('the lister was stopped', 'AbortError'));
    this.#wake.abort();
    await this.#done;
    this.#stop = undefined;
  }

  /** Calls the listener after each change of the view. The returned function unsubscribes. */
  subscribe(listener: ViewListener<Content>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Polls fast until disposed; how fast depends on what is waited for and on the cost of a list. */
  pollFast(waiting: Exclude<Waiting, false> = 'changes'): Disposable {
    this.#fastHolds[waiting] += 1;
    this.#wake.abort();
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) this.#fastHolds[waiting] -= 1;
        held = false;
      },
    };
  }

  /** Puts newer content in the place of what is known; unknown stays unknown. Its age is not renewed: only a part may be newer. */
  amend(change: (known: Known<Content>) => Content): void {
    const view = this.#view;
    if (view.kind === 'known')
      this.#show({ ...change(view), kind: 'known', at: view.at, answeredAt: view.answeredAt });
  }

  /**
   * The content of a list that began after `moment` (in milliseconds, on this lister's clock). Requests one at once;
   * failed lists are retried. Rejects with Timeout and the last error if none succeeded in time.
   */
  listSince(moment: number, options: ListSinceOptions = {}): Promise<Known<Content>> {
    const { signal, timeoutMs = 30_000 } = options;
    // A list with a future time is from before the clock was set back: its age is unknown.
    const view = this.#view;
    if (view.kind === 'known' && view.at > moment && view.at <= this.#clock.now())
      return Promise.resolve(view);
    if (signal?.aborted) return Promise.reject(aborted(this.#options.name, signal));
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#waiters.delete(waiter);
        cancel();
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter<Content> = {
        moment,
        resolve: (known) => {
          settle();
          resolve(known);
        },
      };
      const onAbort = () => {
        settle();
        if (signal) reject(aborted(this.#options.name, signal));
      };
      const cancel = this.#clock.schedule(timeoutMs, () => {
        settle();
        const why = this.#view.kind === 'unknown' ? `: ${this.#view.why.message}` : '';
        reject(new Timeout(`no list of ${this.#options.name} within ${timeoutMs / 1000} s${why}`));
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
      this.#wake.abort();
    });
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const began = this.#clock.now();
      let rest: number;
      try {
        const {
          content,
          beganAt,
          bytes,
          requests = 1,
        } = await this.#options.fetch(this.#lastKnown(), signal, this.#view.kind === 'unknown');
        if (signal.aborted) return;
        failures = 0;
        this.#cost = { bytes, requests, tookMs: Math.max(0, this.#clock.now() - began) };
        this.#show({ ...content, kind: 'known', at: beganAt, answeredAt: this.#clock.now() });
        rest = this.#options.pace.afterList(this.#cost, this.#waiting());
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        this.#show(this.#unknown(error, began));
        const random = (this.#options.random ?? Math.random)();
        rest = Math.max(
          this.#options.pace.afterFailure(failures, this.#waiting(), random),
          this.#options.blockedMs?.() ?? 0,
        );
      }
      await this.#rest(began, rest, failures > 0, signal);
    }
  }

  /** Waits until `rest` ms after `began`. `pollFast()` shortens it, except after a failure. */
  async #rest(began: number, rest: number, failed: boolean, signal: AbortSignal): Promise<void> {
    // Never longer than `rest`: a clock that was set back meanwhile would make it hours.
    const until = (ms: number) =>
      Math.min(Math.max(floorMs, began + ms - this.#clock.now()), Math.max(floorMs, ms));
    if (failed) return sleep(this.#clock, until(rest), signal);
    for (;;) {
      if (this.#waiters.size > 0) return sleep(this.#clock, until(floorMs), signal);
      const waiting = this.#waiting();
      const wanted =
        waiting === false ? rest : Math.min(rest, this.#options.pace.afterList(this.#cost, waiting));
      this.#wake = new AbortController();
      await sleep(this.#clock, until(wanted), AbortSignal.any([signal, this.#wake.signal]));
      if (signal.aborted || !this.#wake.signal.aborted) return;
    }
  }

  #waiting(): Waiting {
    if (this.#fastHolds.changes > 0 || this.#waiters.size > 0) return 'changes';
    return this.#fastHolds.jobs > 0 && 'jobs';
  }

  #lastKnown(): Known<Content> | undefined {
    return this.#view.kind === 'known' ? this.#view : this.#view.last;
  }

  #unknown(error: unknown, began: number): Unknown<Content> {
    const known = error instanceof SlurmError ? error : new ProtocolError(String(error), { cause: error });
    const since =
      this.#view.kind === 'unknown' && this.#view.why.code !== 'NotYetListed' ? this.#view.since : began;
    return {
      kind: 'unknown',
      since,
      why: { code: known.code, message: known.message },
      last: this.#lastKnown(),
    };
  }

  #show(view: View<Content>): void {
    const before = this.#view;
    this.#view = view;
    for (const listener of this.#listeners) {
      try {
        listener(view, before);
      } catch (error) {
        this.#options.onListenerError?.(error);
      }
    }
    if (view.kind === 'known' && view.at <= this.#clock.now())
      for (const waiter of this.#waiters) if (view.at > waiter.moment) waiter.resolve(view);
  }
}

function aborted(name: string, signal: AbortSignal): Unavailable {
  return new Unavailable(`waiting for a list of ${name} was aborted by the caller`, {
    cause: signal.reason,
  });
}
