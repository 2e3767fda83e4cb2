import type { Observed, Worker } from '../model/observed.ts';

/**
 * Workers that are not behind the Slurm node of their name, because another one is: on the network of its machine a worker is called
 * like that machine, so when its containers have ended the next one there has its name; and a second one for the same machine has it
 * before it is placed. What Slurm says of that node is said of the other one, and drained or set down for them it would hurt that one.
 */
export function staleWorkersOf({ workers }: Pick<Observed, 'workers'>): ReadonlySet<Worker> {
  const candidates = workers.filter((worker) => worker.containersDead || worker.nodeName === undefined);
  if (candidates.length === 0) return none;
  const serving = new Set(
    workers
      .filter((worker) => worker.everStarted && !worker.containersDead)
      .map((worker) => worker.slurmName),
  );
  return new Set(candidates.filter((worker) => serving.has(worker.slurmName)));
}

const none: ReadonlySet<Worker> = new Set();
