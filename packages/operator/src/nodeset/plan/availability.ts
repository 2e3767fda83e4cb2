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

export function isDead(worker: Worker): boolean {
  return worker.phase === 'Failed' || worker.phase === 'Succeeded' || worker.containersDead;
}

/** It was started with what has another content now: a slurmd reads its key once. */
export function hasOldKeys(worker: Worker, observed: Pick<Observed, 'hashes'>): boolean {
  return Object.entries(observed.hashes).some(
    ([note, hash]) => worker.hashes[note] !== undefined && worker.hashes[note] !== hash,
  );
}

/** Of the newest revision, with the newest keys. */
export function isCurrent(worker: Worker, observed: Pick<Observed, 'hashes' | 'updateRevision'>): boolean {
  return worker.revision === observed.updateRevision && !hasOldKeys(worker, observed);
}
