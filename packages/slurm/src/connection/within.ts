import type { Clock } from '../clock.ts';
import { Aborted, Timeout } from '../errors.ts';

export interface Within {
  /** Description of the work, for error messages. */
  readonly what: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Waits for shared work: the deadline and signal of the caller end the wait, not the work. */
export function within<T>(work: Promise<T>, { what, timeoutMs, signal, clock }: Within): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      cancel();
      signal?.removeEventListener('abort', onAbort);
    };
    const onAbort = () => {
      settle();
      reject(new Aborted(`${what}: aborted by the caller`, { cause: signal?.reason }));
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
