import { isHealthy } from './availability.ts';
import type { Observed, Slot } from './observed.ts';

/**
 * The revision before the rollout that is not over, as a StatefulSet keeps it: the newest takes its place once every worker has that
 * and is ready. It stands in the status, because nothing else remembers what a worker that is gone was made of.
 */
export function keptRevision(observed: Observed): string {
  const { updateRevision, currentRevision, replicas, scalingMode } = observed;
  if (scalingMode === 'DaemonSet') return updateRevision;
  const workers = observed.workers.filter((worker) => !worker.terminating);
  const over =
    workers.length === replicas &&
    workers.every((worker) => worker.revision === updateRevision && isHealthy(worker));
  if (over) return updateRevision;
  if (currentRevision !== '') return currentRevision;
  const older = workers.find((worker) => isBelowPartition(worker.slot, observed) && worker.revision !== '');
  return older?.revision ?? updateRevision;
}

/** What a worker in this slot is made of now; undefined: the newest. `kept` is found once for all slots. */
export function olderRevisionFor(slot: Slot, observed: Observed, kept: string): string | undefined {
  return kept !== observed.updateRevision && isBelowPartition(slot, observed) ? kept : undefined;
}

function isBelowPartition(slot: Slot, { update }: Observed): boolean {
  return slot.mode === 'StatefulSet' && update.type === 'RollingUpdate' && slot.ordinal < update.partition;
}
