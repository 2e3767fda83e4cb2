/** A job, the same for every API version, and the semantics of its states. */
import type { Limit } from '../wire/values.ts';

/** A base state of a job, or a flag such as COMPLETING. */
export type JobStateName = string;

/** A job as slurmctld knows it. Times are milliseconds since the epoch. */
export interface SlurmJob {
  readonly id: number;
  readonly name: string;
  readonly user: string;
  readonly account: string;
  readonly partition: string;
  readonly qos: string;
  readonly state: readonly JobStateName[];
  /** Why it is pending, or how it ended (`NonZeroExitCode`). */
  readonly stateReason: string;
  readonly stateDescription: string;
  /** Hostlist of its nodes. */
  readonly nodes: string;
  /** Hostlist of the nodes that it requires (`--nodelist`). */
  readonly requiredNodes: string;
  readonly nodeCount: number | undefined;
  readonly cpus: number | undefined;
  readonly priority: number | undefined;
  readonly held: boolean;
  readonly submittedAt: number | undefined;
  /** When it may start at the earliest: its begin time, or the end of the pause after a requeue. */
  readonly eligibleAt: number | undefined;
  /** When the scheduler last considered it. */
  readonly consideredAt: number | undefined;
  /** For a pending job the estimate of Slurm, if it has one. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** Minutes. */
  readonly timeLimit: Limit;
  readonly exitCode: number | undefined;
  readonly exitSignal: number | undefined;
  readonly comment: string;
  readonly extra: string;
  readonly workingDirectory: string;
  /** As the user wrote it, such as `slurm-%j.out`. */
  readonly standardOutput: string;
  /** The path on the node, where Slurm tells it. */
  readonly outputFile?: string;
  readonly arrayJobId: number | undefined;
  readonly arrayTaskId: number | undefined;
  /** Of an array: the tasks that have no record of their own yet, see `includesTask`. */
  readonly arrayTasks?: string;
  readonly restarts: number;
  readonly tresRequested: string;
  readonly tresAllocated: string;
  /** TRES per job, node, socket or task, such as `gres/gpu:2`. Unlike the two above it is set without AccountingStorageTRES. */
  readonly tresPer: string;
  /** What it asks for per node, such as `gres/gpu:2`. */
  readonly tresPerNode: string;
  /** What it has on each of its nodes, in their order, such as `gpu:h100:2(IDX:0-1)`; empty for a job without generic resources. */
  readonly gresDetail: readonly string[];
  /** Megabytes; `undefined` when it asks per CPU. */
  readonly memoryPerNode: number | undefined;
  /** Such as `afterok:41(unfulfilled)`. */
  readonly dependency: string;
  /** Features that it asks for, as the user wrote them. */
  readonly constraints: string;
  readonly licenses: string;
  readonly reservation: string;
  readonly adminComment: string;
  /** False where it ends with its nodes instead of being requeued (`--no-requeue`, or JobRequeue=0). */
  readonly requeueable: boolean;
}

/** Id and state of a job, from `jobs/state`. */
export interface SlurmJobState {
  /** `42`, also for a component of a heterogeneous job; `43_7` for task 7 of an array, where 43 is the task's own number, or that of the array while it waits: then only the array is in a list of jobs. See `jobKey`. */
  readonly id: string;
  readonly state: readonly JobStateName[];
}

export interface JobSubmission {
  readonly script: string;
  readonly name?: string;
  /** Default `/tmp`. */
  readonly directory?: string;
  /** Slurm refuses a job without environment. Default: a plain PATH. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly partition?: string;
  readonly account?: string;
  readonly qos?: string;
  readonly reservation?: string;
  readonly nodes?: number;
  readonly tasks?: number;
  readonly cpusPerTask?: number;
  /** Megabytes per node. */
  readonly memory?: number;
  /** Such as `gres/gpu:2`. */
  readonly tresPerNode?: string;
  /** Minutes, `[days-]hours:minutes:seconds`, or `infinite`. */
  readonly timeLimit?: number | string;
  /** Nodes that it requires. */
  readonly requiredNodes?: readonly string[];
  readonly excludedNodes?: readonly string[];
  readonly constraints?: string;
  readonly comment?: string;
  readonly extra?: string;
  readonly hold?: boolean;
  readonly requeue?: boolean;
  readonly standardOutput?: string;
  readonly standardError?: string;
  readonly array?: string;
  readonly dependency?: string;
  /** Any other field of the API version in use, as Slurm spells it. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface JobUpdate {
  readonly timeLimit?: number | string;
  readonly comment?: string;
  /** Only administrators can set it. */
  readonly adminComment?: string;
  readonly extra?: string;
  readonly priority?: number;
  readonly partition?: string;
  readonly qos?: string;
  readonly name?: string;
  readonly hold?: boolean;
  readonly requeue?: boolean;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** The id of a job in `jobs/state`: for a task of an array its own number and its index, otherwise its number. */
export function jobKey(job: Pick<SlurmJob, 'id' | 'arrayTaskId'>): string {
  return job.arrayTaskId === undefined ? String(job.id) : `${job.id}_${job.arrayTaskId}`;
}

const ended = new Set([
  'COMPLETED',
  'CANCELLED',
  'FAILED',
  'TIMEOUT',
  'NODE_FAIL',
  'PREEMPTED',
  'BOOT_FAIL',
  'DEADLINE',
  'OUT_OF_MEMORY',
]);

/** The job will not run again and has released its nodes. A job that is COMPLETING still has them. */
export function hasEnded(state: readonly JobStateName[]): boolean {
  return (
    state.some((name) => ended.has(name)) && !state.includes('COMPLETING') && !state.includes('REQUEUED')
  );
}

/** The job has nodes now. */
export function occupiesNodes(state: readonly JobStateName[]): boolean {
  return ['RUNNING', 'SUSPENDED', 'COMPLETING', 'CONFIGURING', 'STAGE_OUT', 'STOPPED', 'SIGNALING'].some(
    (name) => state.includes(name),
  );
}
