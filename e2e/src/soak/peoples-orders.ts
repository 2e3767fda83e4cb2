/** What people ordered in the script, so that a job that ends by their order is not called lost. */

interface Removal {
  readonly nodeSet: string;
  readonly from: number;
  to: number;
}

export class PeoplesOrders {
  readonly #cancelled = new Set<number>();
  readonly #requeued = new Map<number, number>();
  readonly #removals: Removal[] = [];

  cancel(id: number): void {
    this.#cancelled.add(id);
  }

  requeue(id: number): void {
    this.#requeued.set(id, (this.#requeued.get(id) ?? 0) + 1);
  }

  /** A NodeSet is deleted with the policy that does not wait for jobs. */
  removeAtOnce(nodeSet: string, now: number): void {
    this.#removals.push({ nodeSet, from: now, to: Number.POSITIVE_INFINITY });
  }

  removed(nodeSet: string, now: number): void {
    for (const removal of this.#removals)
      if (removal.nodeSet === nodeSet && removal.to === Number.POSITIVE_INFINITY) removal.to = now;
  }

  /** Whether a run that began then ended with its worker, by people's order, and the NodeSet is gone. */
  tookAway(worker: string, from: number): boolean {
    return this.#removals.some(
      (removal) => isOf(worker, removal.nodeSet) && from < removal.from && Number.isFinite(removal.to),
    );
  }

  isCancelled(id: number): boolean {
    return this.#cancelled.has(id);
  }

  requeues(id: number): number {
    return this.#requeued.get(id) ?? 0;
  }

  /** Slurm may take a minute to find out that a worker is gone. */
  removedAtOnce(worker: string, at: number): boolean {
    return this.#removals.some(
      ({ nodeSet, from, to }) => isOf(worker, nodeSet) && at >= from - 2_000 && at <= to + 90_000,
    );
  }
}

/** Workers of NodeSet d have the names of their machines. */
function isOf(worker: string, nodeSet: string): boolean {
  return nodeSet === 'd' ? worker.includes('-node-') : worker.startsWith(`${nodeSet}-`);
}
