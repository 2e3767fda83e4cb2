/**
 * The guard of every restart of slurmctld that the operator causes: a new image, template or key, a change of the number of standbys. It
 * comes with the slurm.conf that is in force, so only what Slurm keeps nowhere else can be lost. Pure.
 */
import { readConf } from './conf-content.ts';
import { describeJobs, type Hold, type HoldSubject, heldJobs, noJobs } from './hold.ts';
import { jobsOfMissingNodes } from './missing-nodes.ts';
import { partitionsOfSlurmAlone } from './partitions-of-slurm-alone.ts';
import type { Change, Released, SlurmWork } from './slurm-work.ts';

export interface RestartGuardInput {
  /** The slurm.conf that slurmctld was told to read last. */
  readonly inForce: string;
  readonly slurm: SlurmWork;
  readonly released?: Released;
  /** Its state outlives its pod. */
  readonly keepsState: boolean;
  /** For how long this restart has been waiting, in milliseconds. */
  readonly waitedMs: number;
  /** slurmctld may not have read it yet, and may still use one with a PrologSlurmctld. @default false */
  readonly earlierProlog?: boolean;
}

/** As long as a restart waits for jobs whose PrologSlurmctld runs: where jobs start all the time, one always does. */
export const prologWaitMs = 10 * 60_000;

/** A file that slurm.conf includes may name such a script. */
export const mayRunProlog = ({ settings, includes }: Change['from']): boolean =>
  settings.has('prologslurmctld') || includes.length > 0;

const restart: HoldSubject = { kind: 'Restart', isHeld: 'slurmctld is not restarted' };

export function guardRestart({ inForce, slurm, released = new Map(), ...input }: RestartGuardInput): Hold[] {
  const conf = readConf(inForce);
  const change: Change = { from: conf, to: conf, slurm };
  return [
    ...partitionsOfSlurmAlone(change, restart),
    ...jobsOfMissingNodes(change, released, restart),
    ...(input.keepsState ? [] : stateOfPod(slurm)),
    ...(input.waitedMs < prologWaitMs ? jobsInProlog(change, input.earlierProlog) : []),
  ];
}

/** Without a volume slurmctld forgets every job with its pod. */
function stateOfPod(slurm: SlurmWork): Hold[] {
  const hold = { kind: 'Restart', name: 'state', byRestart: true } as const;
  const because = `${restart.isHeld}, because it keeps its state in its pod (spec.persistence.enabled is false) and would forget`;
  if (slurm.kind === 'unknown') {
    if (slurm.mayHaveJobs !== true) return [];
    const message = `${because} its jobs, and Slurm does not say whether it has any: ${slurm.why} It is restarted when Slurm responds and has no jobs.`;
    return [{ ...hold, cause: 'unknown', jobs: noJobs, message }];
  }
  if (slurm.jobs.length === 0) return [];
  const jobs = heldJobs(slurm.jobs);
  const message = `${because} ${describeJobs(jobs)}. It is restarted when they have ended.`;
  return [{ ...hold, cause: 'jobs', jobs, message }];
}

/** In 26.05 a job whose PrologSlurmctld runs during a restart never starts, and holds its nodes until its time limit. */
function jobsInProlog({ from, slurm }: Change, earlierProlog = false): Hold[] {
  if (slurm.kind === 'unknown' || !(earlierProlog || mayRunProlog(from))) return [];
  const jobs = heldJobs(slurm.jobs.filter(({ startingSince }) => startingSince !== undefined));
  if (jobs.ids.length === 0) return [];
  const most = prologWaitMs / 60_000;
  return [
    {
      kind: 'Restart',
      name: 'PrologSlurmctld',
      cause: 'jobs',
      jobs,
      byRestart: true,
      message: `${restart.isHeld} while PrologSlurmctld runs for ${describeJobs(jobs)}: a job that is interrupted there never starts. It is restarted when none does, after ${most} minutes at the latest.`,
    },
  ];
}
