/** Jobs of every kind that keep the workers busy, and what became of each. */

import {
  hasEnded,
  isSchedulable,
  type JobSubmission,
  type SlurmClient,
  SlurmError,
  type SlurmJob,
} from '@slurm-operator/slurm';
import type { Random } from '@slurm-operator/slurm/testing';

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
  readonly kind: JobKind;
  /** Not part of an array. */
  readonly single: boolean;
  /** When Slurm had answered that it takes it. */
  readonly acceptedAt: number;
  readonly seconds: number;
  readonly runs: Run[];
  restarts: number;
  /** As last seen. */
  state: string;
  partition: string;
  /** Its last state, or `GONE` when Slurm does not know it any more. */
  end: string | undefined;
  /** When that was, as Slurm says, or when it was seen. */
  endedAt?: number;
  /** Slurm holds it: its reason, and when that was observed. */
  held?: { readonly words: string; readonly at: number };
}

export type JobKind = 'batch' | 'steps' | 'array' | 'after' | 'held' | 'licence' | 'pair' | 'limit';

export interface WorkloadOptions {
  /** Its address changes when the RestApi is created again. */
  readonly slurm: () => Promise<SlurmClient>;
  readonly random: Random;
  readonly shortest: number;
  readonly longest: number;
  /** A partition whose jobs an operation submits itself. */
  readonly leftAlone?: string;
  /** A heterogeneous job: REST cannot submit one. Answers its number. */
  readonly submitPair: (seconds: number) => Promise<number | undefined>;
  readonly resume: (id: number) => Promise<unknown>;
}

/** Long enough that a job that ends while slurmctld is away is not over its limit when that is back: it would be a TIMEOUT. */
const timeLimitMinutes = 20;
/** Of a job that is made to last longer than that. */
const limitMinutes = 1;

/** By weight. */
const kinds: readonly JobKind[] = [
  ...Array.from({ length: 10 }, () => 'batch' as const),
  ...(['steps', 'array', 'after', 'held', 'licence', 'licence', 'pair', 'limit'] as const),
];

export class Workload {
  readonly jobs = new Map<number, TrackedJob>();
  readonly #options: WorkloadOptions;
  readonly #suspended = new Map<number, number>();
  readonly #toRelease = new Map<number, number>();
  #lastBatch = 0;
  #windsDown = false;
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

  /** From now on no job that lasts until its time limit, a minute or more: the end must not wait for it. */
  windDown(): void {
    this.#windsDown = true;
  }

  suspend(id: number, until: number): void {
    this.#suspended.set(id, until);
  }

  /** Submits until so many are waiting or running, in the partitions that there are. What Slurm cannot take now is tried again. */
  async topUp(wanted: number): Promise<void> {
    const slurm = await this.#options.slurm();
    const missing = Math.min(12, wanted - this.open.length);
    if (missing <= 0) return;
    try {
      const partitions = (await slurm.partitions.list()).items
        .map(({ name }) => name)
        .filter((name) => name !== this.#options.leftAlone);
      for (let i = 0; i < missing; i += 1)
        await this.submitOne(this.#pickKind(), { partition: this.#pickPartition(partitions) });
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
    }
  }

  /** Half of them may run anywhere, so that no worker is idle while jobs wait for another. */
  #pickPartition(partitions: readonly string[]): string {
    const { random } = this.#options;
    return (random.below(2) === 0 ? 'all' : random.pick(partitions)) ?? 'all';
  }

  #pickKind(): JobKind {
    const kind = this.#options.random.pick(kinds) ?? 'batch';
    return kind === 'limit' && this.#windsDown ? 'batch' : kind;
  }

  /** Answers its number, where Slurm gave one. */
  async submitOne(kind: JobKind, more: Partial<JobSubmission> = {}): Promise<number | undefined> {
    const { random, shortest, longest, submitPair } = this.#options;
    const slurm = await this.#options.slurm();
    const seconds = shortest + random.below(longest - shortest + 1);
    if (kind === 'pair') {
      const id = await submitPair(seconds);
      if (id !== undefined) this.#accept(id, { kind, seconds, single: false });
      return id;
    }
    const after = this.#lastBatch;
    const { id } = await slurm.jobs.submit({
      script:
        kind === 'steps' ? stepsFor(seconds) : `#!/bin/sh\nsleep ${kind === 'limit' ? 3600 : seconds}\n`,
      timeLimit: kind === 'limit' ? limitMinutes : timeLimitMinutes,
      tasks: 1,
      name: 'soak',
      ...(kind === 'array' ? { array: '0-1' } : {}),
      ...(kind === 'after' && after > 0 ? { dependency: `afterany:${after}` } : {}),
      ...(kind === 'held' ? { hold: true } : {}),
      ...(kind === 'licence' ? { more: { licenses: 'soak:1' } } : {}),
      ...more,
    });
    if (kind === 'batch') this.#lastBatch = id;
    if (kind === 'held') this.#toRelease.set(id, Date.now() + 5_000);
    this.#accept(id, { kind, seconds, single: kind !== 'array' });
    return id;
  }

  /** After kill -9 Slurm gives the number of a job that it forgot to another: the first counts as gone. */
  #accept(id: number, { kind, seconds, single }: Pick<TrackedJob, 'kind' | 'seconds' | 'single'>): void {
    const acceptedAt = Date.now();
    const previous = this.jobs.get(id);
    if (previous !== undefined) {
      previous.end ??= 'GONE';
      this.jobs.set(-id - acceptedAt, previous);
    }
    const fresh = { runs: [], restarts: 0, state: 'PENDING', partition: '', end: undefined };
    this.jobs.set(id, { id, kind, single, acceptedAt, seconds, ...fresh });
  }

  /** Looks at every job that is not over: all states in one answer, the whole job where its state has changed. */
  async look(): Promise<void> {
    const slurm = await this.#options.slurm();
    try {
      const states = new Map<number, string>();
      for (const { id, state } of (await slurm.jobs.states()).items)
        states.set(Number.parseInt(id, 10), state.join('+'));
      for (const [id, state] of states) if (!this.jobs.has(id)) await this.#adopt(id, state);
      for (const job of this.open) {
        const state = states.get(job.id);
        const last = job.runs.at(-1);
        if (state === undefined) {
          // Of an array that waits only the first number is listed.
          if ((await slurm.jobs.get(job.id)) !== undefined) continue;
          job.end = 'GONE';
          job.endedAt = Date.now();
          noteCut(job);
        } else if (state === job.state && state === 'RUNNING' && last !== undefined) last.until = Date.now();
        else if (state !== job.state || job.partition === '' || state.includes('PENDING'))
          await this.#read(job);
      }
      await this.#resumeSuspended();
      await this.#releaseHeld(slurm);
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
    }
  }

  async #resumeSuspended(): Promise<void> {
    // A suspension whose answer did not arrive, or whose end slurmctld forgot when it was killed: without this the job never ends.
    for (const { id, state } of this.open)
      if (state.includes('SUSPENDED') && !this.#suspended.has(id))
        this.#suspended.set(id, Date.now() + 8_000);
    // A job that has ended, or was not suspended after all, cannot be resumed.
    for (const [id, until] of this.#suspended) {
      const { end, state = '' } = this.jobs.get(id) ?? {};
      if (end !== undefined || (Date.now() > until + 30_000 && !state.includes('SUSPENDED')))
        this.#suspended.delete(id);
      else if (Date.now() > until && (await this.#options.resume(id)) !== undefined)
        this.#suspended.delete(id);
    }
  }

  /** Slurm refuses to release a job that has ended meanwhile: that must not keep this from the next one. */
  async #releaseHeld(slurm: SlurmClient): Promise<void> {
    for (const [id, at] of this.#toRelease) {
      if (this.jobs.get(id)?.end !== undefined) this.#toRelease.delete(id);
      else if (Date.now() > at) {
        await slurm.jobs.release(id);
        this.#toRelease.delete(id);
      }
    }
  }

  /** Parts of arrays and of pairs, and a job whose submission Slurm accepted without an answer that arrived. */
  async #adopt(id: number, state: string): Promise<void> {
    const { slurm, longest } = this.#options;
    const seen = await (await slurm()).jobs.get(String(id));
    if (seen === undefined) return;
    const { timeLimit, submittedAt = Date.now() } = seen;
    const kind = timeLimit === limitMinutes ? 'limit' : 'array';
    const job: TrackedJob = {
      id,
      kind,
      single: false,
      acceptedAt: submittedAt,
      seconds: longest,
      runs: [],
      restarts: 0,
      state,
      partition: seen.partition,
      end: undefined,
    };
    this.jobs.set(id, job);
    await this.#read(job);
  }

  async #read(job: TrackedJob): Promise<void> {
    const seen = await (await this.#options.slurm()).jobs.get(String(job.id));
    if (seen === undefined) return;
    job.state = seen.state.join('+');
    job.partition = seen.partition;
    noteRun(job, seen);
    job.restarts = Math.max(job.restarts, seen.restarts);
    const byPeople = this.#toRelease.has(job.id);
    if (seen.held && seen.state.includes('PENDING') && !byPeople)
      job.held ??= { words: seen.stateDescription || seen.stateReason, at: Date.now() };
    if (!hasEnded(seen.state)) return;
    job.end = job.state;
    job.endedAt = seen.endedAt ?? Date.now();
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
      const { items } = await (await this.#options.slurm()).nodes.list();
      const able = items.filter((node) => isSchedulable(node.state) && node.reservation === '');
      return able.length === 0 ? undefined : able.every((node) => node.state.base !== 'IDLE');
    } catch (error) {
      if (error instanceof SlurmError) return undefined;
      throw error;
    }
  }
}

function stepsFor(seconds: number): string {
  return `#!/bin/sh\nsrun --mpi=none sleep ${Math.ceil(seconds / 2)} && srun --mpi=none sleep ${Math.ceil(seconds / 2)}\n`;
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
