/** The polling interval of a lister. Pure. */

/**
 * What a caller waits for: `changes`, that a list shows them; `jobs`, that jobs end, which the list of job states tells at once, so that
 * other lists may be rarer.
 */
export type Waiting = 'changes' | 'jobs' | false;

export interface PaceOptions {
  /** Minimum interval between the beginnings of two lists while a caller waits; a function for one that changes. Default 200 ms. */
  readonly fastMs?: number | (() => number);
  /** Minimum interval when idle. Default 5 s. */
  readonly idleMinMs?: number;
  /** Maximum interval when idle. Default 60 s. */
  readonly idleMaxMs?: number;
  /** When idle, the interval grows by one second per this many bytes of a list. */
  readonly idleBytesPerSecond: number;
}

export interface ListCost {
  /** 0 for "unchanged". */
  readonly bytes: number;
  readonly tookMs: number;
  /** How many it was made of. */
  readonly requests: number;
}

export interface Pace {
  /** Interval after a list. */
  afterList(list: ListCost, waiting: Waiting): number;
  /** Interval after `failures` consecutive failures; `random` in [0, 1) spreads many clients. */
  afterFailure(failures: number, waiting: Waiting, random: number): number;
}

/**
 * While a caller waits, lists take at most a third of the time of slurmrestd (slurmctld needs a tenth of that); where the job states tell
 * when to look, a quarter: a list still confirms every delete, so rarer ones made the last workers of a large cluster wait.
 */
const share = { changes: 3, jobs: 4 };
/** No wait for a list is longer than this because of its cost. */
const slowestMs = 15_000;
/**
 * What a request, and a list of so many bytes, cost Slurm at most: a tenth of the measured speed (20 MB/s). A small list that takes longer
 * has waited for something else, such as a processor, and the next one need not wait for that.
 */
const leastCostMs = 60;
const slowestBytesPerMs = 2_000;
const firstRetryMs = 1000;

export function pace(options: PaceOptions): Pace {
  const { fastMs = 200, idleMinMs = 5000, idleMaxMs = 60_000, idleBytesPerSecond } = options;
  return {
    afterList({ bytes, tookMs, requests }, waiting) {
      const least = typeof fastMs === 'number' ? fastMs : fastMs();
      const costMs = Math.min(tookMs, requests * leastCostMs + bytes / slowestBytesPerMs);
      if (waiting !== false) return Math.min(slowestMs, Math.max(least, costMs * share[waiting]));
      return Math.min(idleMaxMs, Math.max(idleMinMs, (bytes / idleBytesPerSecond) * 1000));
    },
    afterFailure(failures, waiting, random) {
      const most = waiting !== false ? 5000 : 30_000;
      return Math.min(most, firstRetryMs * 2 ** Math.min(failures - 1, 10)) * (0.75 + random / 2);
    },
  };
}
