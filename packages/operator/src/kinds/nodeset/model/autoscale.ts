import type { WorkerSize } from '../../../slurm-config/render/slurmd-conf.ts';

/** What an autoscaled NodeSet asks for, as the plan sees it. Times are milliseconds. */
export interface Autoscale {
  /** Workers that are always awake. */
  readonly min: number;
  /** Records that Slurm shows: the ordinals below this number. */
  readonly max: number;
  /** Idle workers that stay awake beyond those with jobs. */
  readonly spare: number;
  readonly idleAfter: number;
  /** Manual: jobs wake nothing. */
  readonly wake: 'OnDemand' | 'Manual';
  /** How long a pod may wait for a machine or its image. */
  readonly giveUpAfter: number;
  /** How long the sleeping slots are not offered to Slurm after a wake-up failed. */
  readonly retryAfter: number;
  /** Failures in a row after which sleeping slots are offered every half hour only. */
  readonly protectAfter: number;
  /** Parameters of a record, as in slurm.conf; undefined while the size of a worker is unknown. */
  readonly shape: string | undefined;
  /** The same as numbers: a sleeping record of another size is created again. */
  readonly size: WorkerSize;
  readonly shapeSource: 'Spec' | 'Limits' | 'LastWorker';
  /** Digest of the other parameters, such as the weight and the types of GRES. */
  readonly conf: string;
  /** The feature that every record of the NodeSet has. */
  readonly feature: string;
  /** Rest: Slurm creates records over its REST API. Controller: the side container of slurmctld does, with scontrol (before 25.11). */
  readonly recordsBy: 'Rest' | 'Controller';
  /** Why this Slurm cannot create records; undefined if it can. */
  readonly unsupported: string | undefined;
  /** Why slurmctld cannot wake nodes for the moment; undefined where it can. */
  readonly cannotWake?: string | undefined;
  /** As of the last status. */
  readonly history: WakeHistory;
}

/** Failed wake-ups. Kept in the status, so that a restart of the operator forgets nothing. Times are by Slurm's clock. */
export interface WakeHistory {
  /** In a row, without one worker that started. */
  readonly failures: number;
  readonly lastFailureAt: number | undefined;
  readonly protectedSince: number | undefined;
}

export const noFailures: WakeHistory = { failures: 0, lastFailureAt: undefined, protectedSince: undefined };

/** A job that has nodes and waits until they have started. */
export interface WakingJob {
  readonly id: string;
  readonly priority: number;
  readonly nodes: readonly string[];
}
