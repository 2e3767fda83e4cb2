/** Time and randomness, injected so that tests control them. */
import { AbortedError } from './errors.ts';

export interface Clock {
  /** Wall-clock milliseconds: for timestamps, never for measuring durations. */
  now(): number;
  /** Monotonic milliseconds, independent of the wall clock: for delays and deadlines. */
  monotonic(): number;
  /** Runs `callback` once after `delay` milliseconds. Returns a function that cancels it. */
  after(delay: number, callback: () => void): () => void;
  /** A number in [0, 1). */
  random(): number;
}

/** setTimeout turns longer delays into 1 ms, so longer delays are cut to this. */
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
  /** Maximum delay in milliseconds. */
  readonly limit: number;
  /** @default 2 */
  readonly factor?: number;
  /** The part of each delay that is random, 0 to 1. @default 0.5 */
  readonly jitter?: number;
}

/** The delay before retry number `attempt` (from 0). */
export function backoffDelay(options: BackoffOptions, attempt: number, clock: Pick<Clock, 'random'>): number {
  const factor = options.factor ?? 2;
  const full = Math.min(options.limit, options.initial * factor ** Math.min(attempt, 60));
  return full * (1 - (options.jitter ?? 0.5) * clock.random());
}
