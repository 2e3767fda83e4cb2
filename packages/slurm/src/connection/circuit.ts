/**
 * A circuit breaker: after some failures in a row calls fail at once instead of each waiting ten seconds for a
 * slurmctld that is down, and one call at a time checks whether it is back.
 */
import { type Clock, systemClock } from '../clock.ts';
import { Aborted, Timeout, Unavailable } from '../errors.ts';

export interface CircuitOptions {
  /** Name of the service, for messages. */
  readonly name: string;
  /** Consecutive failures that open it. Default 3. */
  readonly threshold?: number;
  /** First pause, doubled with every failed attempt. Default 1 s. */
  readonly pauseMs?: number;
  /** Default 30 s. */
  readonly maxPauseMs?: number;
  readonly clock?: Clock;
  /** A number in [0, 1). */
  readonly random?: () => number;
}

export type CircuitState = 'closed' | 'open' | 'trying';

export class Circuit {
  readonly #options: Required<CircuitOptions>;
  #failures = 0;
  #openUntil = 0;
  #trying = false;
  #lastError: Error | undefined;

  constructor(options: CircuitOptions) {
    this.#options = {
      threshold: 3,
      pauseMs: 1000,
      maxPauseMs: 30_000,
      clock: systemClock,
      random: Math.random,
      ...options,
    };
  }

  get state(): CircuitState {
    if (this.#failures < this.#options.threshold) return 'closed';
    return this.#trying ? 'trying' : 'open';
  }

  /** Milliseconds until the next call is allowed; 0 if one is allowed now. */
  get waitMs(): number {
    return this.state === 'closed' ? 0 : Math.max(0, this.#openUntil - this.#options.clock.now());
  }

  /** Runs `call` if the circuit allows it. Only `Unavailable` and `Timeout` count as failures. */
  async run<T>(call: () => Promise<T>, isFailure = isOutage): Promise<T> {
    const tries = this.state !== 'closed';
    if (tries && (this.#trying || this.waitMs > 0)) throw this.#refusal();
    if (tries) this.#trying = true;
    try {
      const result = await call();
      this.#failures = 0;
      this.#lastError = undefined;
      return result;
    } catch (error) {
      // Neither a success nor an outage: slurmctld may have failed only this call. Other calls will tell.
      if (isUnexplained(error) && !tries) throw error;
      if (!isFailure(error)) {
        // Only a response proves that Slurm is up; an aborted call has none.
        if (!wasAborted(error)) this.#failures = 0;
        throw error;
      }
      this.#fail(error as Error);
      throw error;
    } finally {
      if (tries) this.#trying = false;
    }
  }

  #fail(error: Error): void {
    const { threshold, pauseMs, maxPauseMs, clock, random } = this.#options;
    this.#failures += 1;
    this.#lastError = error;
    if (this.#failures < threshold) return;
    const pause = Math.min(maxPauseMs, pauseMs * 2 ** Math.min(this.#failures - threshold, 20));
    this.#openUntil = clock.now() + pause * (0.75 + random() / 2);
  }

  #refusal(): Unavailable {
    const seconds = Math.ceil(this.waitMs / 1000);
    const message = `${this.#options.name} failed ${this.#failures} times in a row, the next try is in ${seconds} s; last: ${this.#lastError?.message ?? 'unknown'}`;
    return new Unavailable(message, { cause: this.#lastError });
  }
}

/** Whether the error means that Slurm is unreachable. A call that its caller aborted does not count. */
export function isOutage(error: unknown): boolean {
  return error instanceof Timeout || (error instanceof Unavailable && !wasAborted(error));
}

/** slurmrestd sends -1 where it has no number: for a job while slurmctld is down, and for single calls that failed for another reason. */
const isUnexplained = (error: unknown): boolean => error instanceof Unavailable && error.number === -1;

/** An abort by a timeout (`AbortSignal.timeout`) does not count: Slurm did not respond in time. */
function wasAborted(error: unknown): boolean {
  if (!(error instanceof Aborted)) return false;
  return !(error.cause instanceof DOMException && error.cause.name === 'TimeoutError');
}
