/** The polling interval of a lister. Pure. */

export interface PaceOptions {
  /** Interval between the beginnings of two lists while a caller waits. Default 1 s. */
  readonly fastMs?: number;
  /** Minimum interval when idle. Default 5 s. */
  readonly idleMinMs?: number;
  /** Maximum interval when idle. Default 60 s. */
  readonly idleMaxMs?: number;
  /** When idle, the interval grows by one second per this many bytes of a list. */
  readonly idleBytesPerSecond: number;
}

export interface Pace {
  /** Interval after a list of `bytes` (0 for "unchanged"). */
  afterList(bytes: number, waiting: boolean): number;
  /** Interval after `failures` consecutive failures; `random` in [0, 1) spreads many clients. */
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
