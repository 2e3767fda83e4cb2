/** A job as the list shows it. Everything else is read from Slurm when a user opens the job. */
import { demandOf } from '@slurm-operator/advice';
import { jobKey, type SlurmJob } from '@slurm-operator/slurm';

export interface JobRow {
  /** Its id in `jobs/state`. */
  readonly key: string;
  /** What users type: `43`, or `40_7` for task 7 of array 40. */
  readonly id: string;
  /** The number of the array that it belongs to; 0 for none. */
  readonly array: number;
  readonly name: string;
  readonly user: string;
  readonly account: string;
  readonly partition: string;
  readonly qos: string;
  readonly state: string;
  /** Why it is pending, or how it ended. */
  readonly reason: string;
  /** Hostlist. */
  readonly nodes: string;
  readonly nodeCount: number;
  readonly cpus: number;
  readonly gpus: number;
  readonly priority: number;
  readonly submittedAt: number;
  /** For a pending job Slurm's estimate; 0 if there is none. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Minutes; -1 for no limit, 0 for not known. */
  readonly timeLimit: number;
}

export function jobRow(job: SlurmJob): JobRow {
  const { nodes, gpusPerNode } = demandOf(job);
  return {
    key: jobKey(job),
    id: job.arrayTaskId === undefined ? String(job.id) : `${job.arrayJobId}_${job.arrayTaskId}`,
    array: job.arrayJobId ?? 0,
    name: job.name,
    user: job.user,
    account: job.account,
    partition: job.partition,
    qos: job.qos,
    state: job.state.join('+'),
    reason: job.stateReason === 'None' ? '' : job.stateReason,
    nodes: job.nodes,
    nodeCount: nodes,
    cpus: job.cpus ?? 0,
    gpus: nodes * gpusPerNode,
    priority: job.priority ?? 0,
    submittedAt: job.submittedAt ?? 0,
    startedAt: job.startedAt ?? 0,
    endedAt: job.endedAt ?? 0,
    timeLimit: job.timeLimit === 'infinite' ? -1 : (job.timeLimit ?? 0),
  };
}

export const withJobState = (row: JobRow, state: readonly string[]): JobRow => ({
  ...row,
  state: state.join('+'),
});
