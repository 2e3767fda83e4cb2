/** Time and chance, injected everywhere so that tests own them. */
import { AbortedError } from './errors.ts';

export interface Clock {
  /** Wall-clock milliseconds: for timestamps that others read, never for measuring how long something took. */
  now(): number;
  /** Milliseconds that only ever grow, whatever happens to the wall clock: for delays and deadlines. */
  monotonic(): number;
  /** Runs `callback` once after `delay` milliseconds; the answer cancels it. */
  after(delay: number, callback: () => void): () => void;
  /** A number in [0, 1). */
  random(): number;
}

/** setTimeout turns longer delays into 1 ms; wake up at least this often instead. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delay, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, delay), LONGEST_TIMER));
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Waits; rejects with {@link AbortedError} as soon as the signal is aborted. */
export function sleep(milliseconds: number, signal: AbortSignal, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(new AbortedError('wait aborted', { cause: signal.reason }));
      return;
    }
    const stop = () => {
      cancel();
      reject(new AbortedError('wait aborted', { cause: signal.reason }));
    };
    const cancel = clock.after(milliseconds, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export interface BackoffOptions {
  /** Milliseconds before the first retry. */
  readonly initial: number;
  /** No delay is longer. */
  readonly limit: number;
  /** @default 2 */
  readonly factor?: number;
  /** How much of each delay chance may take away, 0 to 1. @default 0.5 */
  readonly jitter?: number;
}

/** The delay before retry number `attempt` (from 0). */
export function backoffDelay(options: BackoffOptions, attempt: number, clock: Clock): number {
  const factor = options.factor ?? 2;
  const full = Math.min(options.limit, options.initial * factor ** Math.min(attempt, 60));
  return full * (1 - (options.jitter ?? 0.5) * clock.random());
}
