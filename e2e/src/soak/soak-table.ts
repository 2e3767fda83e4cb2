/** What a soak did and found, as a table for people. Pure. */
import type { Account } from './account.ts';
import type { TrackedJob } from './workload.ts';

export interface SoakStory {
  readonly result: Account & { readonly busy_percent: number; readonly end_state_equal: boolean };
  /** How often each kind of operation was done. */
  readonly kinds: ReadonlyMap<string, number>;
  readonly jobs: readonly TrackedJob[];
  readonly administrator: {
    readonly undrained: number;
    readonly released: number;
    readonly cancelled: number;
  };
}

export function soakTable({ result, kinds, jobs, administrator }: SoakStory): string[] {
  const seconds = jobs.flatMap((job) => (job.end === 'COMPLETED' ? [job.seconds] : []));
  const mean = seconds.reduce((sum, one) => sum + one, 0) / Math.max(1, seconds.length);
  const rows: (readonly [string, string | number])[] = [
    ...[...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ['', ''],
    ['jobs that ran', result.jobs_run],
    ['  of these completed', seconds.length],
    ['  seconds of a completed one, on average', mean.toFixed(0)],
    ['operations that met every worker busy', `${result.busy_percent} %`],
    ['jobs lost', result.jobs_lost],
    ['jobs requeued by the operator', result.jobs_requeued_by_operator],
    ['jobs hurt by a kill -9 of slurmctld', result.jobs_lost_by_slurm],
    ['drains by Slurm itself, undrained by hand', administrator.undrained],
    ['jobs held by Slurm itself, released by hand', administrator.released],
    ['jobs that Slurm took for running, cancelled by hand', administrator.cancelled],
    ['end state equals a fresh apply', result.end_state_equal ? 'yes' : 'NO'],
  ];
  return ['', ...rows.map(([what, value]) => `${what.padEnd(52)}${String(value).padStart(8)}`.trimEnd())];
}
