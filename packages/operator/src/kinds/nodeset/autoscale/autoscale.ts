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
  /** How long a slot whose wake-up failed is not offered to Slurm. */
  readonly retryAfter: number;
  /** Parameters of a record, as in slurm.conf; undefined while the size of a worker is unknown. */
  readonly shape: string | undefined;
  /** The same as numbers: a sleeping record of another size is created again. */
  readonly size: WorkerSize;
  /** The feature that every record of the NodeSet has. */
  readonly feature: string;
  /** Why this Slurm cannot create records; undefined if it can. */
  readonly unsupported: string | undefined;
}

/** What a plan says about autoscaling, for the status. */
export interface AutoscaleSummary {
  readonly visible: number;
  readonly awake: number;
  readonly waking: number;
  readonly sleeping: number;
  readonly stopping: number;
  readonly cooling: number;
}
