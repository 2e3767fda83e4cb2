/** The only way in which tests wait: for a condition, never for a fixed time. */
import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  /** The timeout. It is generous because test machines may be under load. @default 120 */
  readonly seconds?: number;
  /** Polling interval. @default 10 */
  readonly everyMs?: number;
  /** Describes the current state, for the message of a timeout. */
  readonly seen?: () => string | Promise<string>;
  /** Aborts the wait. */
  readonly signal?: AbortSignal;
}

type Found<T> = T | undefined | false;

/** Polls until `condition` returns a value; an error counts as not yet. The last error is the cause of a timeout. */
export async function until<T>(
  what: string,
  condition: () => Found<T> | Promise<Found<T>>,
  { seconds = 120, everyMs = 10, seen, signal }: UntilOptions = {},
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  let last: unknown;
  for (;;) {
    try {
      const found = await condition();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      const instead = seen === undefined ? '' : `; seen: ${await seen()}`;
      throw new Error(`timed out after ${seconds} s: ${what}${instead}`, { cause: last });
    }
    await delay(everyMs, undefined, { signal });
  }
}
