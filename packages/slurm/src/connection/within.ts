import type { Clock } from '../clock.ts';
import { GivenUp, Timeout } from '../errors.ts';

export interface Within {
  /** What is waited for, for the message. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Waits for work that others share: the caller's own deadline and signal end the wait, not the work. */
export function within<T>(work: Promise<T>, { what, timeoutMs, signal, clock }: Within): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    };
    const onAbort = () => {
      settle();
      reject(new GivenUp(`${what}: aborted by the caller`, { cause: signal?.reason }));
    };
    const cancel = clock.schedule(timeoutMs, () => {
      settle();
      reject(new Timeout(`${what}: not within ${timeoutMs / 1000} s`));
    });
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(settle);
  });
}
