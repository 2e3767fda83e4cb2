import type { Reason } from '@slurm-operator/api';
import type { Autoscale } from '../model/autoscale.ts';
import type { Observed } from '../model/observed.ts';
import type { AutoscaleSummary } from './power.ts';
import { gaveUpReason } from './wake-history.ts';

/** Why an autoscaled NodeSet cannot show its capacity to Slurm, and what to do. */
export function autoscaleProblem({
  shape,
  unsupported,
}: Autoscale): { readonly reason: Reason; readonly message: string } | undefined {
  if (unsupported !== undefined)
    return {
      reason: 'AutoscaleUnsupported',
      message: `spec.autoscale has no effect on sleeping nodes: ${unsupported}. Workers that run are kept. Upgrade Slurm, or remove spec.autoscale.`,
    };
  if (shape === undefined)
    return {
      reason: 'ShapeUnknown',
      message:
        'Slurm cannot show nodes that do not exist yet, because the size of a worker is unknown. Set spec.autoscale.shape.cpus and .memory, or limits for cpu and memory in spec.slurmd.resources.',
    };
  return undefined;
}

/** Wake-ups that fail, and workers that are smaller than their records, with what to do. */
export function autoscaleDegraded(
  observed: Observed,
  summary: AutoscaleSummary | undefined,
): { readonly reason: Reason; readonly message: string } | undefined {
  if (observed.autoscale === undefined || summary === undefined) return undefined;
  const { history, nextTryAt, coolingBecause } = summary;
  const why = coolingBecause === undefined ? '' : ` The last reason: ${wordsOf(coolingBecause)}.`;
  const next = nextTryAt === undefined ? 'now' : `${new Date(nextTryAt).toISOString().slice(0, 19)}Z`;
  if (history.protectedSince !== undefined)
    return {
      reason: 'Protected',
      message: `${history.failures} wake-ups failed in a row, so sleeping Slurm nodes are offered to jobs every half hour only; next try ${next}.${why} Protection ends when a worker starts.`,
    };
  if (coolingBecause?.startsWith(gaveUpReason))
    return {
      reason: 'NoMachines',
      message: `No Kubernetes node or image came for a worker within capacity.giveUpAfter, and its job was requeued; ${summary.cooling} sleeping Slurm nodes are not offered to jobs; next try ${next}.${why} Add nodes, or lower the requests of slurmd.`,
    };
  const mismatch = shapeMismatch(observed);
  return mismatch === undefined ? undefined : { reason: 'ShapeMismatch', message: mismatch };
}

const wordsOf = (reason: string): string =>
  reason.startsWith(gaveUpReason) ? reason.slice(gaveUpReason.length).replace(/^\S+: /, '') : reason;

/** What slurmctld writes on a node whose slurmd reports less than the record says. */
const less = /^(Low (RealMemory|socket\*core|CPUs|TmpDisk)|gres\/\S+ count)/i;

function shapeMismatch({ slurm, autoscale }: Observed): string | undefined {
  if (slurm.kind === 'unknown' || autoscale === undefined) return undefined;
  const node = slurm.nodes
    .values()
    .find(({ ours, flags, reason }) => ours && (flags.has('INVALID_REG') || less.test(reason)));
  if (node === undefined) return undefined;
  const { cpus, memory, gpus } = autoscale.size;
  const size = `${cpus ?? '?'} CPUs, ${memory ?? '?'} MiB of memory, ${gpus ?? 0} GPUs (from ${autoscale.shapeSource})`;
  return `Slurm node ${node.name} was announced with ${size}, and its worker has less: ${node.reason || 'its registration is refused'}. Correct spec.autoscale.shape, or the limits of slurmd.`;
}
