/** Makes the row of a job out of what Slurm lists. Pure. */
import { demandOf } from '@slurm-operator/advice';
import { jobKey, type SlurmJob } from '@slurm-operator/slurm';
import type { JobRow } from '../live/job-row.ts';

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

/** A task that waits has what its array has. */
export const withArrayTask = (array: JobRow, task: number): JobRow => ({
  ...array,
  key: `${array.key}_${task}`,
  id: `${array.array || array.key}_${task}`,
  array: array.array || Number(array.key),
});

export const withJobState = (row: JobRow, state: readonly string[]): JobRow => ({
  ...row,
  state: state.join('+'),
});
