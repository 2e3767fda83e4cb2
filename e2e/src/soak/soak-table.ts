/** What a soak did and found, as a table for people. Pure. */
import type { Account } from './account.ts';
import type { TrackedJob } from './workload.ts';

export interface SoakStory {
  readonly result: Account & { readonly busy_percent: number; readonly end_state_equal: boolean };
  /** How often each kind of operation was done. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Kind → milliseconds that its operations took. */
  readonly spent: ReadonlyMap<string, number>;
  readonly jobs: readonly TrackedJob[];
  readonly administrator: {
    readonly undrained: number;
    readonly released: number;
    readonly cancelled: number;
    readonly moved: number;
  };
}

export function soakTable({ result, kinds, spent, jobs, administrator }: SoakStory): string[] {
  const seconds = jobs.flatMap((job) => (job.end === 'COMPLETED' ? [job.seconds] : []));
  const average = seconds.reduce((sum, one) => sum + one, 0) / Math.max(1, seconds.length);
  const rows: (readonly [string, string | number])[] = [
    ...[...kinds]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, count]) => [`${kind} (${mean(spent.get(kind) ?? 0, count)} s each)`, count] as const),
    ['', ''],
    ['jobs that ran', result.jobs_run],
    ['  of these completed', seconds.length],
    ['  seconds of a completed one, on average', average.toFixed(0)],
    ['operations that met every worker busy', `${result.busy_percent} %`],
    ['jobs lost', result.jobs_lost],
    ['jobs requeued by the operator', result.jobs_requeued_by_operator],
    ['jobs hurt by a kill -9 of slurmctld', result.jobs_lost_by_slurm],
    ['drains by Slurm itself, undrained by hand', administrator.undrained],
    ['jobs held by Slurm itself, released by hand', administrator.released],
    ['jobs that Slurm took for running, cancelled by hand', administrator.cancelled],
    ['jobs moved by hand out of a partition that goes', administrator.moved],
    ['end state equals a fresh install', result.end_state_equal ? 'yes' : 'NO'],
  ];
  return ['', ...rows.map(([what, value]) => `${what.padEnd(60)}${String(value).padStart(8)}`.trimEnd())];
}

const mean = (milliseconds: number, count: number) => (milliseconds / 1000 / Math.max(1, count)).toFixed(1);
