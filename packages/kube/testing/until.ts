/** The one way in which tests wait: for a condition, never for a time. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Patience {
  /** A deadline that is met costs nothing: it is for a machine under load. @default 120 */
  readonly seconds?: number;
  /** Between two looks. @default 10 */
  readonly everyMs?: number;
  /** The current state, for the message of a timeout. */
  readonly seen?: () => string | Promise<string>;
  /** Gives up before the deadline. */
  readonly signal?: AbortSignal;
}

type Found<T> = T | undefined | false;

/** What `look` finds, once it finds something. A look that throws has found nothing yet; what it said last is the cause in the end. */
export async function until<T>(
  what: string,
  look: () => Found<T> | Promise<Found<T>>,
  { seconds = 120, everyMs = 10, seen, signal }: Patience = {},
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  let last: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      const instead = seen === undefined ? '' : `; seen: ${await seen()}`;
      throw new Error(`waited ${seconds} s in vain: ${what}${instead}`, { cause: last });
    }
    await delay(everyMs, undefined, { signal });
  }
}
