import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export interface GrowingFile {
  readonly path: string;
  /** When it is complete. */
  readonly size: number;
}

/** Tells every few seconds how much of some files is there, while something else brings them. */
export function watchGrowth(
  files: readonly GrowingFile[],
  tell: (bytes: number, total: number) => void,
  everyMs = 5000,
): { stop(): void } {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const timer = setInterval(() => {
    const bytes = files.reduce((sum, { path }) => sum + sizeOf(path), 0);
    tell(bytes, total);
  }, everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

/** What is on its way may be in the directory that apt has for that. */
function sizeOf(path: string): number {
  const places = [path, join(dirname(path), 'partial', basename(path))];
  return Math.max(...places.map((place) => statSync(place, { throwIfNoEntry: false })?.size ?? 0));
}
