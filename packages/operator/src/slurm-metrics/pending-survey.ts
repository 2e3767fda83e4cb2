/**
 * Why jobs wait. Only a list of all jobs says so, which costs slurmctld 8 KB a job, so it is read while jobs wait and someone scrapes the
 * metrics, at most once a minute.
 */
import type { SlurmClient, SlurmJob } from '@slurm-operator/slurm';
import { type PendingReason, partitionLabel, pendingReason, waitsForCluster } from './pending-reasons.ts';

/** Between two lists, at least. */
const everyMs = 60_000;

/** A list takes at most this share of the time: one that takes 10 s is read every 500 s. */
const share = 50;

/** Older figures are not shown: what is not known is not zero. */
const validMs = 30 * 60_000;

/** Half a million jobs of 8 KB. */
const longestList = { maxAnswerBytes: 4 * 2 ** 30, timeoutMs: 300_000 };

/** No site has more partitions that jobs wait in; the others are counted as one. */
const mostPartitions = 200;
export const otherPartitions = 'other';

export interface PendingFigures {
  /** When the list was asked for. */
  readonly at: number;
  /** Partition → reason → jobs. The tasks of an array that wait are one job. */
  readonly counts: ReadonlyMap<string, ReadonlyMap<PendingReason, number>>;
  /** Partition → since when the job that waits longest for the cluster could have started. */
  readonly oldest: ReadonlyMap<string, number>;
}

interface PendingRow {
  readonly partition: string;
  readonly reason: PendingReason;
  readonly since: number | undefined;
}

/** Keeps what the figures need of a job while the list arrives. */
function rowOf(job: SlurmJob): PendingRow | undefined {
  if (!job.state.includes('PENDING')) return undefined;
  const times = [job.submittedAt, job.eligibleAt].filter((at) => at !== undefined);
  return {
    partition: partitionLabel(job),
    reason: pendingReason(job),
    since: times.length === 0 ? undefined : Math.max(...times),
  };
}

/** Pure. */
export function pendingFigures(rows: readonly (PendingRow | undefined)[], at: number): PendingFigures {
  const counts = new Map<string, Map<PendingReason, number>>();
  const oldest = new Map<string, number>();
  for (const row of rows) {
    if (row === undefined) continue;
    const { reason, since } = row;
    const isShown = counts.has(row.partition) || counts.size < mostPartitions;
    const partition = isShown ? row.partition : otherPartitions;
    const reasons = counts.get(partition) ?? new Map<PendingReason, number>();
    counts.set(partition, reasons.set(reason, (reasons.get(reason) ?? 0) + 1));
    if (since !== undefined && waitsForCluster(reason) && since < (oldest.get(partition) ?? Infinity))
      oldest.set(partition, since);
  }
  return { at, counts, oldest };
}

export class PendingSurvey {
  readonly #client: Pick<SlurmClient, 'jobs'>;
  readonly #now: () => number;
  readonly #ending = new AbortController();
  #last: PendingFigures | undefined;
  #nextAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(client: Pick<SlurmClient, 'jobs'>, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  /** What is known, without waiting; begins a list where that is due. `pending`: how many jobs wait now. */
  figures(pending: number): PendingFigures | undefined {
    const now = this.#now();
    if (pending === 0) return (this.#last = { at: now, counts: new Map(), oldest: new Map() });
    // A clock that was set back must not put the next list off.
    const isDue = now >= this.#nextAt || this.#nextAt - now > validMs + everyMs;
    if (isDue && !this.#ending.signal.aborted) this.#running ??= this.#read(now);
    return this.#last !== undefined && Math.abs(now - this.#last.at) < validMs ? this.#last : undefined;
  }

  /** A failed list is tried again later: the figures age meanwhile, which a metric of its own shows. */
  async #read(at: number): Promise<void> {
    const { signal } = this.#ending;
    try {
      const { items } = await this.#client.jobs.listProjected(rowOf, { signal, ...longestList });
      this.#last = pendingFigures(items, at);
    } catch {
      // The state of the connection is reported by its Cluster.
    } finally {
      const took = Math.max(0, this.#now() - at);
      this.#nextAt = this.#now() + Math.max(everyMs, Math.min(validMs, took * share));
      this.#running = undefined;
    }
  }

  /** Resolves when no list is under way. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }
}
