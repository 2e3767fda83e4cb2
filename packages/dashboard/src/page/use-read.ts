/** Reads something from the server, again when `again` changes and after a failure, and keeps showing the last answer meanwhile. */
import { useEffect, useState } from 'preact/hooks';
import { read } from './server.ts';

export interface Reading<T> {
  readonly value: T | undefined;
  readonly problem: string;
}

const retryMs = 5_000;

/** `keeps`: what was read of another address is shown until the new answer is there: a list under another filter, never another job. */
export function useRead<T>(path: string, again: unknown = 0, { keeps = false } = {}): Reading<T> {
  const [reading, setReading] = useState<Reading<T> & { readonly path: string }>({
    value: undefined,
    problem: '',
    path,
  });
  const [failures, setFailures] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    read<T>(path, abort.signal).then(
      (value) => setReading({ value, problem: '', path }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setReading((last) => ({
          value: last.path === path ? last.value : undefined,
          problem: error instanceof Error ? error.message : 'This cannot be read.',
          path,
        }));
        timer = setTimeout(() => setFailures((count) => count + 1), retryMs);
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, again, failures]);
  return reading.path === path || keeps ? reading : { value: undefined, problem: '' };
}

/** Grows every `ms` while the tab is visible. */
export function useEvery(ms: number): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setTicks((count) => count + 1);
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
  return ticks;
}
