/** Until when each worker has work, by Slurm's newest answer: it is newer than what was last written on the pod. */
import { isOwn } from './node-state.ts';
import type { Observed, Worker } from './observed.ts';

export function withCurrentDeadlines(observed: Observed, now: number): Observed {
  const { slurm } = observed;
  if (slurm.kind === 'unknown') return observed;
  const workers = observed.workers.map((worker) => {
    const node = slurm.nodes.get(worker.slurmName);
    if (node === undefined ? (worker.writtenDeadline ?? 0) > now : !isOwn(node, worker)) return worker;
    if (node !== undefined && node.deadline === undefined && slurm.jobsUnknown !== undefined) return worker;
    const deadline = node?.deadline === 'unknown' ? undated(worker) : node?.deadline;
    return deadline === worker.deadline ? worker : { ...worker, deadline };
  });
  return { ...observed, workers };
}

/**
 * Jobs and nodes are listed separately: for a moment the job has ended in one list and still holds its node in the other. The deadline
 * that was last written on the pod bridges that moment, so that no other worker is chosen because of it. Without one the work is new
 * and may have no limit: its node is chosen last.
 */
function undated(worker: Worker): number {
  return worker.writtenDeadline ?? Number.POSITIVE_INFINITY;
}
