/** Reads something from the server, again when `again` changes, and keeps showing the last answer meanwhile. */
import { useEffect, useState } from 'preact/hooks';
import { read } from './server.ts';

export interface Reading<T> {
  readonly value: T | undefined;
  readonly problem: string;
}

export function useRead<T>(path: string, again: unknown = 0): Reading<T> {
  const [reading, setReading] = useState<Reading<T> & { readonly path: string }>({
    value: undefined,
    problem: '',
    path,
  });
  useEffect(() => {
    const abort = new AbortController();
    read<T>(path, abort.signal).then(
      (value) => setReading({ value, problem: '', path }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        setReading((last) => ({
          ...last,
          problem: error instanceof Error ? error.message : 'This cannot be read.',
        }));
      },
    );
    return () => abort.abort();
  }, [path, again]);
  return reading;
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
