/** How long a lister rests between two lists. Pure. */

export interface PaceOptions {
  /** While something waits for Slurm, from the beginning of one list to the beginning of the next. Default 1 s. */
  readonly fastMs?: number;
  /** Least rest when nothing waits. Default 5 s. */
  readonly idleMinMs?: number;
  /** Longest rest when nothing waits. Default 60 s. */
  readonly idleMaxMs?: number;
  /** When nothing waits, a list that brought this many bytes earns a rest of one second. */
  readonly idleBytesPerSecond: number;
}

export interface Pace {
  /** Rest after a list that brought `bytes` (0 for "unchanged"). */
  afterList(bytes: number, waiting: boolean): number;
  /** Rest after `failures` failed lists in a row; `random` in [0, 1) spreads many clients. */
  afterFailure(failures: number, waiting: boolean, random: number): number;
}

export function pace(options: PaceOptions): Pace {
  const { fastMs = 1000, idleMinMs = 5000, idleMaxMs = 60_000, idleBytesPerSecond } = options;
  return {
    afterList(bytes, waiting) {
      if (waiting) return fastMs;
      return Math.min(idleMaxMs, Math.max(idleMinMs, (bytes / idleBytesPerSecond) * 1000));
    },
    afterFailure(failures, waiting, random) {
      const most = waiting ? 5000 : 30_000;
      return Math.min(most, fastMs * 2 ** Math.min(failures - 1, 10)) * (0.75 + random / 2);
    },
  };
}
