/** Jobs that keep every worker busy, and what became of each. */
import { hasEnded, isSchedulable, type SlurmClient, SlurmError } from '@slurm-operator/slurm';
import type { Random } from './random.ts';

export interface TrackedJob {
  readonly id: number;
  readonly submittedAt: number;
  readonly seconds: number;
  node: string;
  startedAt: number | undefined;
  restarts: number;
  /** Its last state, or `GONE` when Slurm does not know it any more. */
  end: string | undefined;
  endedAt: number | undefined;
}

export interface WorkloadOptions {
  readonly slurm: SlurmClient;
  readonly random: Random;
  readonly shortest: number;
  readonly longest: number;
}

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
      const submittedAt = Date.now();
      try {
        const { id } = await slurm.jobs.submit({
          script: `#!/bin/sh\nsleep ${seconds}\n`,
          timeLimit: 5,
          name: 'soak',
        });
        // After kill -9 Slurm gives the number of a job it forgot to another: that one is counted as gone.
        const namesake = this.jobs.get(id);
        if (namesake !== undefined && namesake.end === undefined)
          Object.assign(namesake, { end: 'GONE', endedAt: submittedAt });
        if (namesake !== undefined) this.jobs.set(-id - submittedAt, namesake);
        this.jobs.set(id, {
          id,
          submittedAt,
          seconds,
          node: '',
          startedAt: undefined,
          restarts: 0,
          end: undefined,
          endedAt: undefined,
        });
      } catch (error) {
        if (error instanceof SlurmError) return;
        throw error;
      }
    }
  }

  /** Looks at every job that is not over. An outage tells nothing. */
  async look(): Promise<void> {
    const { slurm } = this.#options;
    for (const job of this.open) {
      try {
        const seen = await slurm.jobs.get(String(job.id));
        if (seen === undefined) Object.assign(job, { end: 'GONE', endedAt: Date.now() });
        else {
          Object.assign(job, {
            node: seen.nodes || job.node,
            startedAt: seen.startedAt,
            restarts: Math.max(job.restarts, seen.restarts),
          });
          if (hasEnded(seen.state)) Object.assign(job, { end: seen.state.join('+'), endedAt: Date.now() });
        }
      } catch (error) {
        if (error instanceof SlurmError) return;
        throw error;
      }
    }
  }

  async sample(): Promise<void> {
    try {
      const { items } = await this.#options.slurm.nodes.list();
      const able = items.filter((node) => isSchedulable(node.state));
      if (able.length === 0) return;
      this.#samples += 1;
      if (able.every((node) => node.state.base !== 'IDLE')) this.#busy += 1;
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
    }
  }
}
