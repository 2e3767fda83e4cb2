/** A line per step of long work, with the time since it began. */
export type Progress = (message: string) => void;

/** Writes progress to standard error, so that a program's own output stays clean. */
export function consoleProgress(now: () => number = () => performance.now()): Progress {
  const began = now();
  return (message) => {
    process.stderr.write(`  ${((now() - began) / 1000).toFixed(1).padStart(6)} s  ${message}\n`);
  };
}
