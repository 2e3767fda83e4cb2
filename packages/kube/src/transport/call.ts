/** One call with its deadline: it ends at the deadline or when the caller aborts, at any stage. */
import type { Clock } from '../clock.ts';

/**
 * A cheap replacement of an AbortSignal: every request has a Call, and only those that wait for something other than the network need a
 * real signal.
 */
export class Call {
  readonly #caller: AbortSignal | undefined;
  readonly #cancelTimer: () => void;
  readonly #abort = () => this.#end();
  #controller: AbortController | undefined;
  #onEnd: (() => void) | undefined;
  #ended = false;

  constructor(timeout: number, caller: AbortSignal | undefined, clock: Clock) {
    this.#caller = caller;
    this.#cancelTimer = clock.after(timeout, this.#abort);
    caller?.addEventListener('abort', this.#abort, { once: true });
    if (caller?.aborted === true) this.#end();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the caller ended it, rather than the deadline. */
  get abortedByCaller(): boolean {
    return this.#caller?.aborted === true;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Sets the action for the end of the call, in place of the previous one; undefined removes it. */
  whenEnded(action: (() => void) | undefined): void {
    this.#onEnd = action;
    if (this.#ended) action?.();
  }

  /** The call completed: stops the timer and the listener. */
  finish(): void {
    this.#cancelTimer();
    this.#caller?.removeEventListener('abort', this.#abort);
    this.#onEnd = undefined;
  }

  #end(): void {
    this.#ended = true;
    this.#onEnd?.();
    this.#controller?.abort();
  }
}
