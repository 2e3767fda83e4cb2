/** What the guard holds back, and the sentences that say so. Pure. */
import type { WorkJob } from './slurm-work.ts';

export type HoldCause =
  /** Jobs would be lost. */
  | 'jobs'
  /** Slurm does not say whether jobs would be lost. */
  | 'unknown'
  /** A job could still start and be lost: what accepts jobs is closed first, by the guard or by a person. */
  | 'closing'
  /** Workers of the NodeSet that goes still exist. */
  | 'workers'
  /** More nodes exist than would fit. */
  | 'nodes'
  /** A line that stays refers to it. */
  | 'referenced'
  /** A worker that exists has the same name. */
  | 'taken';

export interface Hold {
  /** Restart: of slurmctld, with the slurm.conf that is in force. */
  readonly kind: 'Partition' | 'NodeSet' | 'Node' | 'Setting' | 'Configuration' | 'Restart';
  readonly name: string;
  readonly cause: HoldCause;
  readonly jobs: HeldJobs;
  /** A restart of slurmctld costs the same jobs. */
  readonly byRestart?: boolean;
  /** What is held back, why, and what to do about it. */
  readonly message: string;
}

/** What waits as a whole, and how a sentence about it begins. */
export interface HoldSubject {
  readonly kind: 'Configuration' | 'Restart';
  readonly isHeld: string;
}

export const wholeConfiguration: HoldSubject = {
  kind: 'Configuration',
  isHeld: 'The configuration is not changed',
};

export interface HeldJobs {
  readonly active: number;
  readonly pending: number;
  /** The first few, as `scontrol` takes them. */
  readonly ids: readonly string[];
}

/** As many jobs are named; the others are counted. */
const namedJobs = 5;

export const noJobs: HeldJobs = { active: 0, pending: 0, ids: [] };

export function heldJobs(jobs: readonly WorkJob[]): HeldJobs {
  const active = jobs.filter((job) => job.active);
  const pending = jobs.filter((job) => !job.active);
  return {
    active: active.length,
    pending: pending.length,
    ids: [...active, ...pending].slice(0, namedJobs).map(({ id }) => id),
  };
}

/** `2 running and 1 pending jobs (4, 7, 9)`. */
export function describeJobs({ active, pending, ids }: HeldJobs): string {
  const counts = [
    ...(active > 0 ? [`${active} running`] : []),
    ...(pending > 0 ? [`${pending} pending`] : []),
  ];
  const total = active + pending;
  const more = total > ids.length ? ` and ${total - ids.length} more` : '';
  return `${counts.join(' and ')} ${total === 1 ? 'job' : 'jobs'} (${ids.join(', ')}${more})`;
}

/** How to get rid of jobs that wait in a partition; `target` is a partition that they could move to. */
export function moveOrCancel(partition: string, jobs: HeldJobs, target: string | undefined): string {
  if (jobs.pending === 0) return 'It is removed when they have ended.';
  const move = `scontrol update job=<job> partition=${target ?? '<partition>'}`;
  return `Move pending jobs with "${move}", or cancel them with "scancel --state=PENDING --partition=${partition}".`;
}
