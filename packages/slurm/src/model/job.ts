/** A job, in one shape for every API version, and what its states mean. */
import type { Limit } from '../wire/values.ts';

/** Base states of a job; flags such as COMPLETING come in the same list. */
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
  /** Hostlist of the nodes it has. */
  readonly nodes: string;
  /** Hostlist of the nodes that it asks for by name. */
  readonly requiredNodes: string;
  readonly nodeCount: number | undefined;
  readonly cpus: number | undefined;
  readonly priority: number | undefined;
  readonly held: boolean;
  readonly submittedAt: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** Minutes. */
  readonly timeLimit: Limit;
  readonly exitCode: number | undefined;
  readonly exitSignal: number | undefined;
  readonly comment: string;
  readonly extra: string;
  readonly workingDirectory: string;
  readonly standardOutput: string;
  readonly arrayJobId: number | undefined;
  readonly arrayTaskId: number | undefined;
  readonly restarts: number;
  readonly tresRequested: string;
  readonly tresAllocated: string;
  /** What it asks for per job, node, socket or task, such as `gres/gpu:2`: unlike the two above also without AccountingStorageTRES. */
  readonly tresPer: string;
}

/** The cheap view of a job: all that `jobs/state` tells. */
export interface SlurmJobState {
  /** `42`; `43_7` for task 7 of an array, where 43 is the task's own number; see `jobKey`. */
  readonly id: string;
  readonly state: readonly JobStateName[];
}

export interface JobSubmission {
  readonly script: string;
  readonly name?: string;
  /** Default `/tmp`. */
  readonly directory?: string;
  /** Slurm refuses a job without any; the default is a plain PATH. */
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
  /** Hostlist of nodes it must get. */
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
  readonly extra?: string;
  readonly priority?: number;
  readonly partition?: string;
  readonly qos?: string;
  readonly name?: string;
  readonly hold?: boolean;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** How `jobs/state` names a job: a task of an array by its own number and its index, everything else by its number. */
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

/** The job will not run again and has left its nodes. A job that is COMPLETING still occupies them. */
export function hasEnded(state: readonly JobStateName[]): boolean {
  return (
    state.some((name) => ended.has(name)) && !state.includes('COMPLETING') && !state.includes('REQUEUED')
  );
}

/** The job holds nodes now. */
export function occupiesNodes(state: readonly JobStateName[]): boolean {
  return ['RUNNING', 'SUSPENDED', 'COMPLETING', 'CONFIGURING', 'STAGE_OUT', 'STOPPED', 'SIGNALING'].some(
    (name) => state.includes(name),
  );
}
