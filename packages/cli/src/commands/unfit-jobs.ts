/** Pending jobs that could run now, and never could on what a scale-in leaves. Pure. */
import { couldRun, demandOf } from '@slurm-operator/advice';
import type { Observed } from '@slurm-operator/operator/dry-run';
import type { SlurmJob, SlurmNode } from '@slurm-operator/slurm';

export interface UnfitJob {
  readonly id: number;
  readonly user: string;
  readonly nodes: number;
  /** Nodes large enough that are left for it. */
  readonly left: number;
}

export function unfitJobs(
  slurm: { readonly nodes: readonly SlurmNode[]; readonly jobs: readonly SlurmJob[] },
  removed: readonly string[],
  { workers }: Pick<Observed, 'workers'>,
): readonly UnfitJob[] {
  if (removed.length === 0) return [];
  const gone = new Set(
    workers.filter(({ name }) => removed.includes(name)).map(({ slurmName }) => slurmName),
  );
  return slurm.jobs
    .filter(({ state }) => state.includes('PENDING'))
    .flatMap((job) => {
      const demand = demandOf(job);
      const wanted = new Set(job.partition.split(','));
      const large = slurm.nodes.filter(
        (node) => node.partitions.some((one) => wanted.has(one)) && couldRun(node, demand),
      );
      const left = large.filter(({ name }) => !gone.has(name)).length;
      return large.length >= demand.nodes && left < demand.nodes
        ? [{ id: job.id, user: job.user, nodes: demand.nodes, left }]
        : [];
    });
}
