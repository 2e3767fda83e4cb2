/** The numbers in the status of a NodeSet. Pure. */
import type { NodeSet } from '@slurm-operator/api';
import { isAvailable, isCurrent, isHealthy } from '../model/availability.ts';
import { hasDrain, isBusy, isForeign } from '../model/node-state.ts';
import type { Observed, SlurmNode } from '../model/observed.ts';
import { nodeOf } from './words.ts';

export type Counts = Required<
  Pick<
    NonNullable<NodeSet['status']>,
    | 'replicas'
    | 'updatedReplicas'
    | 'readyReplicas'
    | 'availableReplicas'
    | 'unavailableReplicas'
    | 'desired'
    | 'slurmIdle'
    | 'slurmAllocated'
    | 'slurmDown'
    | 'slurmDrain'
  >
>;

/** The Slurm nodes of its workers. */
export const nodesOf = (observed: Observed): SlurmNode[] =>
  observed.slurm.kind === 'known' ? observed.workers.flatMap((worker) => nodeOf(observed, worker) ?? []) : [];

/** Slurm nodes of the set that the operator did not drain. */
export const countForeignDrains = (observed: Observed): number => nodesOf(observed).filter(isForeign).length;

export function countsOf(observed: Observed, desired: number, now: number): Counts {
  const { workers } = observed;
  const nodes = nodesOf(observed);
  const available = workers.filter((worker) => isAvailable(worker, observed, now)).length;
  return {
    replicas: workers.length,
    updatedReplicas: workers.filter((worker) => isCurrent(worker, observed) && !worker.terminating).length,
    readyReplicas: workers.filter(isHealthy).length,
    availableReplicas: available,
    unavailableReplicas: Math.max(0, desired - available),
    desired,
    slurmIdle: nodes.filter((node) => node.base === 'IDLE' && !isBusy(node)).length,
    slurmAllocated: nodes.filter((node) => node.base === 'ALLOCATED' || node.base === 'MIXED').length,
    slurmDown: nodes.filter((node) => node.base === 'DOWN').length,
    slurmDrain: nodes.filter(hasDrain).length,
  };
}
