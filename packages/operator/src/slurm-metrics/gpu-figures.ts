/** Which job has which GPU: one series per GPU in use, to be joined with figures of the GPU itself by node and index. Pure. */
import type { Sample } from '@slurm-operator/kube';
import { expandHostlist, type SlurmJob } from '@slurm-operator/slurm';
import type { ClusterLabels } from './node-figures.ts';
import { partitionLabel } from './pending-reasons.ts';

/** Series of one cluster at most: 20,000 GPUs in use. What is more is counted and left out. */
export const mostGpuSeries = 20_000;

/** No GPU server has more. A longer range is not one of indexes of GPUs. */
const mostPerNode = 64;

/**
 * The indexes in what Slurm says of one node, such as `gpu:h100:2(IDX:0-1),shard:4(IDX:0)` → 0, 1. Slurm writes `(CNT:2)` or `N/A` for a
 * GPU without a device file: that has no index.
 */
export function gpuIndexes(detail: string): number[] {
  const indexes = new Set<number>();
  for (const [, list = ''] of detail.matchAll(/(?:^|,)gpu(?::[^,(:]+)?:\d+\(IDX:([\d,-]+)\)/g))
    for (const part of list.split(',')) {
      const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
      if (first === undefined) continue;
      const end = Math.min(Number(last), Number(first) + mostPerNode - 1);
      for (let index = Number(first); index <= end && indexes.size < mostPerNode; index += 1)
        indexes.add(index);
    }
  return [...indexes];
}

interface JobGpus {
  readonly of: ClusterLabels;
  readonly samples: readonly Sample[];
}

/** Jobs of a view are replaced, never changed: each is read once. */
const read = new WeakMap<SlurmJob, JobGpus>();

function gpusOf(of: ClusterLabels, job: SlurmJob): readonly Sample[] {
  const known = read.get(job);
  if (known?.of === of) return known.samples;
  const names = job.gresDetail.length === 0 ? [] : namesIn(job.nodes);
  const common = {
    namespace: of.namespace,
    cluster: of.cluster,
    job_id: String(job.id),
    user: job.user,
    account: job.account,
    partition: partitionLabel(job),
  };
  // One entry per node, in their order. Where Slurm lists fewer, which node they belong to is not known.
  const samples =
    names.length === job.gresDetail.length
      ? names.flatMap((node, at) =>
          gpuIndexes(job.gresDetail[at] ?? '').map((gpu) => ({
            labels: { ...common, node, gpu: String(gpu) },
            value: 1,
          })),
        )
      : [];
  read.set(job, { of, samples });
  return samples;
}

function namesIn(hostlist: string): readonly string[] {
  try {
    return expandHostlist(hostlist);
  } catch {
    return [];
  }
}

/** A suspended job keeps its GPUs but does not use them. */
const isRunning = ({ state }: Pick<SlurmJob, 'state'>): boolean =>
  state.includes('RUNNING') && !state.includes('CONFIGURING');

export interface GpuSamples {
  readonly samples: Sample[];
  /** GPUs in use that have no series. */
  readonly omitted: number;
}

export function gpuSamples(
  labels: ClusterLabels,
  running: Iterable<SlurmJob>,
  most = mostGpuSeries,
): GpuSamples {
  const samples: Sample[] = [];
  let omitted = 0;
  for (const job of running) {
    if (!isRunning(job)) continue;
    const gpus = gpusOf(labels, job);
    // A job has all of its GPUs here or none: a part of them would look like a job that uses less than it does.
    if (samples.length + gpus.length > most) omitted += gpus.length;
    else samples.push(...gpus);
  }
  return { samples, omitted };
}
