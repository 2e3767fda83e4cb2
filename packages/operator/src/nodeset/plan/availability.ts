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
