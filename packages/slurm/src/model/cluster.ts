/** What Slurm says of itself, in one shape for every API version: partitions, reservations, controllers, licenses. */
import type { Limit } from '../wire/values.ts';

export interface SlurmPartition {
  readonly name: string;
  readonly state: readonly string[];
  /** Hostlist. */
  readonly nodes: string;
  readonly nodeCount: number;
  readonly nodeSets: string;
  readonly cpuCount: number;
  readonly isDefault: boolean;
  /** Minutes. */
  readonly maxTime: Limit;
  readonly defaultTime: Limit;
  readonly tres: string;
  readonly taskBinding: readonly string[];
}

export interface SlurmReservation {
  readonly name: string;
  /** Hostlist. */
  readonly nodes: string;
  readonly nodeCount: number;
  readonly partition: string;
  readonly users: readonly string[];
  readonly accounts: readonly string[];
  readonly flags: readonly string[];
  readonly features: string;
  readonly startsAt: number | undefined;
  readonly endsAt: number | undefined;
}

export interface ReservationWrite {
  /** Slurm makes one up when it is missing. */
  readonly name?: string;
  /** Milliseconds since the epoch. Default: now. */
  readonly startsAt?: number;
  readonly endsAt?: number;
  /** Minutes. */
  readonly durationMinutes?: number;
  readonly nodes?: readonly string[];
  readonly nodeCount?: number;
  readonly partition?: string;
  readonly users?: readonly string[];
  readonly accounts?: readonly string[];
  readonly flags?: readonly string[];
  readonly comment?: string;
}

/** One controller's answer to a ping. */
export interface ControllerPing {
  readonly hostname: string;
  readonly responding: boolean;
  readonly primary: boolean;
  /** Microseconds. */
  readonly latency: number | undefined;
  /** Slurm's words for why it does not respond; only v0.0.45 tells. */
  readonly status: string | undefined;
}

export interface SlurmDiag {
  /** The clock of slurmctld, in whole seconds. */
  readonly time: number | undefined;
  /**
   * Since when slurmctld counts: its start, its last reconfigure (it starts itself anew for that), or midnight. So never
   * earlier than its start. `undefined` for a moment after a start or a reconfigure.
   */
  readonly startedAt: number | undefined;
  readonly serverThreads: number;
  readonly agentQueue: number;
  readonly databaseQueue: number;
  readonly jobs: {
    readonly submitted: number;
    readonly started: number;
    readonly completed: number;
    readonly canceled: number;
    readonly failed: number;
    readonly pending: number;
    readonly running: number;
  };
  readonly scheduleCycleLast: number;
  readonly scheduleQueueLength: number;
  readonly backfillLastDepth: number;
}

export interface SlurmLicense {
  readonly name: string;
  readonly total: number;
  readonly used: number;
  readonly free: number;
  readonly reserved: number;
  readonly remote: boolean;
}
