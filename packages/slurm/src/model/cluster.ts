/** Partitions, reservations, controllers and licenses, the same for every API version. */
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
  /** Most nodes that one job may have. */
  readonly maxNodes: Limit;
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
  /** Default: Slurm generates one. */
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

/** The ping result of one slurmctld. */
export interface ControllerPing {
  readonly hostname: string;
  readonly responding: boolean;
  readonly primary: boolean;
  /** Microseconds. */
  readonly latency: number | undefined;
  /** Slurm's reason why it does not respond; only in v0.0.45. */
  readonly status: string | undefined;
}

export interface SlurmDiag {
  /** The clock of slurmctld, in whole seconds. */
  readonly time: number | undefined;
  /**
   * Start of slurmctld's statistics: its start, its last reconfigure (it restarts itself for that), or midnight. So never
   * earlier than its start. `undefined` shortly after a start or a reconfigure.
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
  /** Microseconds, like the next two. */
  readonly scheduleCycleLast: number;
  readonly scheduleCycleMean: number;
  readonly backfillCycleLast: number;
  readonly scheduleQueueLength: number;
  readonly backfillLastDepth: number;
  /** What slurmctld was asked since its statistics began, by type of message. */
  readonly rpcs: readonly RpcFigures[];
}

export interface RpcFigures {
  /** Such as `REQUEST_JOB_INFO`. */
  readonly type: string;
  readonly count: number;
  /** Microseconds. */
  readonly totalTime: number;
}

export interface SlurmLicense {
  readonly name: string;
  readonly total: number;
  readonly used: number;
  readonly free: number;
  readonly reserved: number;
  readonly remote: boolean;
}
