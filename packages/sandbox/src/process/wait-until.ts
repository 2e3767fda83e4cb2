import { setTimeout as sleep } from 'node:timers/promises';
import { TimeoutError } from '../errors.ts';

export interface WaitOptions {
  /** Default: 90 seconds. */
  readonly timeoutMs?: number;
  /** Time between two looks. Default: 50 ms. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
}

/** Looks again and again until `check` gives something true, and hands that back. `what` completes "timed out waiting for". */
export async function waitUntil<T>(
  what: string,
  check: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<NonNullable<T>> {
  const { timeoutMs = 90_000, intervalMs = 50, signal } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const result = await check();
    if (result) return result;
    if (performance.now() >= deadline)
      throw new TimeoutError(`timed out after ${timeoutMs} ms waiting for ${what}`);
    await sleep(intervalMs, undefined, { signal });
  }
}
