/** Waits with a time limit. */
import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `promise` resolves, the time is over, or `signal` is aborted. */
export async function within(
  promise: Promise<unknown>,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const wait = delay(milliseconds, undefined, {
    signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
  }).catch(() => {});
  await Promise.race([promise, wait]);
  stop.abort();
}
