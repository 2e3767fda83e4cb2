import type { Reason } from '@slurm-operator/api';
import type { Autoscale } from './autoscale.ts';

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
