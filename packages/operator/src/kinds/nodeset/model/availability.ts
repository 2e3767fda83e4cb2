import { annotation } from '@slurm-operator/api';
import { resolveCount } from '@slurm-operator/kubernetes-values';
import { confServerAnnotation } from '../annotations.ts';
import type { Observed, Worker } from './observed.ts';

export function isHealthy(worker: Worker): boolean {
  return worker.phase === 'Running' && worker.ready && !worker.terminating;
}

/** Healthy for as long as minReadySeconds wants. */
export function isAvailable(
  worker: Worker,
  observed: Pick<Observed, 'minReadySeconds'>,
  now: number,
): boolean {
  if (!isHealthy(worker)) return false;
  return (
    observed.minReadySeconds === 0 ||
    (worker.readySince !== undefined && now - worker.readySince >= observed.minReadySeconds * 1000)
  );
}

/**
 * Law L16: deleted, and its kubelet has not confirmed the end within the grace period because its machine does not respond. It ends when
 * the machine is back; nothing that the operator does makes that sooner.
 */
export function isOutOfReach(worker: Worker, now: number): boolean {
  return !worker.nodeReachable && worker.endsBy !== undefined && worker.endsBy <= now;
}

/** The kubelet starts a container that ended again, at once the first time and later after a back-off of its own. */
const restartGrace = 60_000;

/**
 * From when on only a new pod helps: its pod has ended, or its containers have and the kubelet does not start them again. A slurmd that
 * ends again and again is left to the kubelet, which waits ever longer, up to five minutes; a new pod would begin at once each time.
 */
export function deadFrom(worker: Worker): number | undefined {
  if (worker.phase === 'Failed' || worker.phase === 'Succeeded') return Number.NEGATIVE_INFINITY;
  return worker.containersDead && worker.endedAt !== undefined ? worker.endedAt + restartGrace : undefined;
}

/** The content that it was started with, or last notified of, has changed. */
export function hasOldKeys(worker: Worker, observed: Pick<Observed, 'hashes'>): boolean {
  return [annotation.slurmKeyHash, annotation.sssdConfHash].some((note) => isOld(note, worker, observed));
}

/**
 * Of the newest revision, with the newest files and the present address of slurmctld. A slurm.key is not among them: a worker with an old one cannot tell slurmctld that its
 * jobs are over, so a drain would never end. Its Controller tells it of the new one instead, and it reads it again.
 */
export function isCurrent(worker: Worker, observed: Pick<Observed, 'hashes' | 'updateRevision'>): boolean {
  const files = [annotation.sssdConfHash, confServerAnnotation];
  return worker.revision === observed.updateRevision && !files.some((note) => isOld(note, worker, observed));
}

function isOld(note: string, worker: Worker, { hashes }: Pick<Observed, 'hashes'>): boolean {
  const [has, wanted] = [worker.hashes[note], hashes[note]];
  return has !== undefined && wanted !== undefined && has !== wanted;
}

/** How many workers may be missing at a time: a number, or a percentage of the desired count, rounded up; at least one. */
export function resolveMaxUnavailable(value: number | string, desired: number): number {
  const count = resolveCount(value, desired, Math.ceil);
  return Number.isFinite(count) ? Math.max(1, Math.floor(count)) : 1;
}
