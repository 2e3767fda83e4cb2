/** Waits that give up after a while, for ends that somebody else brings about. */
import { setTimeout as delay } from 'node:timers/promises';

/** Until `promise` settles well, the time is over, or `signal` says that nobody waits any more. */
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
