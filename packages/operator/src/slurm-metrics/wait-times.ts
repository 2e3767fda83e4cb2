/** How long jobs waited, told once for each start. Slurm's own times: they do not depend on when the operator saw the job. */
import type { KnownJobs } from '@slurm-operator/slurm';
import { partitionLabel } from './pending-reasons.ts';

export interface JobStart {
  readonly partition: string;
  readonly seconds: number;
}

/** Of one cluster. Jobs that ran when the operator began to look are not told: an earlier operator may have told them. */
export class WaitTimes {
  /** Jobs that run → their start, as a job that is requeued starts again. */
  #seen: ReadonlyMap<string, number> | undefined;

  follow({ running, states }: Pick<KnownJobs, 'running' | 'states'>): JobStart[] {
    const before = this.#seen;
    const seen = new Map<string, number>();
    const starts: JobStart[] = [];
    for (const [id, job] of running) {
      const { startedAt } = job;
      // While its nodes boot Slurm moves the start of a job on.
      if (startedAt === undefined || job.state.includes('CONFIGURING')) continue;
      seen.set(id, startedAt);
      if (before === undefined || before.get(id) === startedAt) continue;
      const since = Math.max(job.submittedAt ?? startedAt, job.eligibleAt ?? 0);
      starts.push({ partition: partitionLabel(job), seconds: Math.max(0, startedAt - since) / 1000 });
    }
    // A job whose details are read again is missing for a moment: it is not told twice.
    for (const [id, startedAt] of before ?? []) if (states.has(id) && !seen.has(id)) seen.set(id, startedAt);
    this.#seen = seen;
    return starts;
  }
}
