/** One call with its deadline: ends when time is up or the caller gives up, whatever it is doing at that moment. */
import type { Clock } from '../clock.ts';

/**
 * An AbortSignal made cheap: every request has one of these, and only those that wait for something other than the
 * network need a real signal.
 */
export class Call {
  readonly #caller: AbortSignal | undefined;
  readonly #cancelTimer: () => void;
  readonly #giveUp = () => this.#end();
  #controller: AbortController | undefined;
  #onEnd: (() => void) | undefined;
  #ended = false;

  constructor(timeout: number, caller: AbortSignal | undefined, clock: Clock) {
    this.#caller = caller;
    this.#cancelTimer = clock.after(timeout, this.#giveUp);
    caller?.addEventListener('abort', this.#giveUp, { once: true });
    if (caller?.aborted === true) this.#end();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the caller ended it, rather than the deadline. */
  get givenUp(): boolean {
    return this.#caller?.aborted === true;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** What to do when it ends; the latest such wish replaces the one before, undefined takes it back. */
  whenEnded(action: (() => void) | undefined): void {
    this.#onEnd = action;
    if (this.#ended) action?.();
  }

  /** The call is over in good order: nothing is watched any more. */
  finish(): void {
    this.#cancelTimer();
    this.#caller?.removeEventListener('abort', this.#giveUp);
    this.#onEnd = undefined;
  }

  #end(): void {
    this.#ended = true;
    this.#onEnd?.();
    this.#controller?.abort();
  }
}
