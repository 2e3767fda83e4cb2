/** Jobs that keep every worker busy, and what became of each. */
import { hasEnded, isSchedulable, type SlurmClient, SlurmError, type SlurmJob } from '@slurm-operator/slurm';
import type { Random } from './random.ts';

/** One stay of a job on a node, as far as it was seen. */
export interface Run {
  readonly node: string;
  readonly from: number;
  /** When it was last seen there, or when Slurm says that it ended. */
  until: number;
  /** The first look that showed that it was not there any more without having ended: it was cut off before. */
  cutBy?: number;
}

export interface TrackedJob {
  readonly id: number;
  /** When Slurm had answered that it takes it. */
  readonly acceptedAt: number;
  readonly seconds: number;
  readonly runs: Run[];
  restarts: number;
  /** Its last state, or `GONE` when Slurm does not know it any more. */
  end: string | undefined;
  /** Slurm holds it back by itself: its words, and when that was seen. */
  held?: { readonly words: string; readonly at: number };
}

export interface WorkloadOptions {
  readonly slurm: SlurmClient;
  readonly random: Random;
  readonly shortest: number;
  readonly longest: number;
}

/** Long enough that a job that ends while slurmctld is away is not over its limit when that is back: it would be a TIMEOUT. */
const timeLimitMinutes = 60;

export class Workload {
  readonly jobs = new Map<number, TrackedJob>();
  readonly #options: WorkloadOptions;
  /** Samples of whether all workers that may have work had some. */
  #busy = 0;
  #samples = 0;

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  get open(): TrackedJob[] {
    return [...this.jobs.values()].filter((job) => job.end === undefined);
  }

  get busyPercent(): number {
    return this.#samples === 0 ? 0 : Math.round((100 * this.#busy) / this.#samples);
  }

  /** Submits until so many are waiting or running. What Slurm cannot take now is tried again at the next tick. */
  async topUp(wanted: number): Promise<void> {
    const { slurm, random, shortest, longest } = this.#options;
    for (let missing = wanted - this.open.length; missing > 0; missing -= 1) {
      const seconds = shortest + random.below(longest - shortest + 1);
      try {
        const { id } = await slurm.jobs.submit({
          script: `#!/bin/sh\nsleep ${seconds}\n`,
          timeLimit: timeLimitMinutes,
          // One core and a little memory: several share a worker, each with an end of its own.
          tasks: 1,
          memory: 10,
          name: 'soak',
        });
        this.#accept(id, seconds);
      } catch (error) {
        if (error instanceof SlurmError) return;
        throw error;
      }
    }
  }

  /** After kill -9 Slurm gives the number of a job that it forgot to another: the first counts as gone. */
  #accept(id: number, seconds: number): void {
    const acceptedAt = Date.now();
    const namesake = this.jobs.get(id);
    if (namesake !== undefined) {
      namesake.end ??= 'GONE';
      this.jobs.set(-id - acceptedAt, namesake);
    }
    this.jobs.set(id, { id, acceptedAt, seconds, runs: [], restarts: 0, end: undefined });
  }

  /** Looks at every job that is not over. An outage tells nothing. */
  async look(): Promise<void> {
    const { slurm } = this.#options;
    for (const job of this.open) {
      try {
        const seen = await slurm.jobs.get(String(job.id));
        if (seen === undefined) {
          job.end = 'GONE';
          noteCut(job);
        } else {
          noteRun(job, seen);
          job.restarts = Math.max(job.restarts, seen.restarts);
          if (seen.held) job.held ??= { words: seen.stateDescription || seen.stateReason, at: Date.now() };
          if (hasEnded(seen.state)) job.end = seen.state.join('+');
        }
      } catch (error) {
        if (error instanceof SlurmError) return;
        throw error;
      }
    }
  }

  /** Counts whether all workers that may have work have some. While Slurm does not answer nothing is counted. */
  async sample(): Promise<void> {
    const busy = await this.#lookAtNodes();
    if (busy === undefined) return;
    this.#samples += 1;
    if (busy) this.#busy += 1;
  }

  async allBusy(): Promise<boolean> {
    return (await this.#lookAtNodes()) ?? false;
  }

  async #lookAtNodes(): Promise<boolean | undefined> {
    try {
      const { items } = await this.#options.slurm.nodes.list();
      const able = items.filter((node) => isSchedulable(node.state));
      return able.length === 0 ? undefined : able.every((node) => node.state.base !== 'IDLE');
    } catch (error) {
      if (error instanceof SlurmError) return undefined;
      throw error;
    }
  }
}

/** A start at another time or place is another run. */
function noteRun(job: TrackedJob, { nodes, startedAt, endedAt, state }: SlurmJob): void {
  if (nodes === '' || startedAt === undefined || state.includes('PENDING')) return noteCut(job);
  const until = hasEnded(state) ? (endedAt ?? Date.now()) : Date.now();
  const last = job.runs.at(-1);
  if (last?.node === nodes && last.from === startedAt) {
    last.until = until;
    return;
  }
  noteCut(job);
  job.runs.push({ node: nodes, from: startedAt, until });
}

function noteCut(job: TrackedJob): void {
  const last = job.runs.at(-1);
  if (last !== undefined) last.cutBy ??= Date.now();
}
