/** What people ordered in the script: only a job that such an order names, or that its NodeSet and time cover, is not called lost. */
import { isForeign } from './neighbours.ts';
import { partitionsOf, type SetName, workerIsOf } from './operations/set-names.ts';

/** `Delete` ends every job of the NodeSet, `CancelPending` those that wait in its partition and nothing that runs. */
export type CostlyPolicy = 'Delete' | 'CancelPending';

interface Removal {
  readonly nodeSet: SetName;
  readonly uid: string;
  readonly policy: CostlyPolicy;
  readonly from: number;
  /** When the NodeSet was gone. */
  to: number;
}

/** One stay of a job on its nodes. */
interface Stay {
  readonly node: string;
  readonly from: number;
  readonly until: number;
  readonly cutBy?: number;
}

export interface InPartition {
  readonly partition: string;
  readonly acceptedAt: number;
  readonly endedAt: number | undefined;
  /** It does not run, and what it ran before was cut off. */
  readonly waits: boolean;
}

/** Slurm's times are whole seconds. */
const blur = 2_000;
/** Slurm may take a minute to find out that a worker is gone. */
const noticedWithin = 90_000;

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

  /** A NodeSet is deleted with a policy that ends jobs. */
  remove(nodeSet: SetName, uid: string, policy: CostlyPolicy, now: number): void {
    this.#removals.push({ nodeSet, uid, policy, from: now, to: Number.POSITIVE_INFINITY });
  }

  /** Which NodeSets there are: a removal whose NodeSet is not among them is over. */
  present(uids: ReadonlySet<string>, now: number): void {
    for (const removal of this.#removals)
      if (!Number.isFinite(removal.to) && !uids.has(removal.uid)) removal.to = now;
  }

  /** Whether a run that began then ended with its worker, by people's order, and the NodeSet is gone. */
  tookAway(worker: string, from: number): boolean {
    return this.#removals.some(
      (removal) =>
        removal.policy === 'Delete' &&
        isOf(worker, removal.nodeSet) &&
        from < removal.from &&
        Number.isFinite(removal.to),
    );
  }

  isCancelled(id: number): boolean {
    return this.#cancelled.has(id);
  }

  requeues(id: number): number {
    return this.#requeued.get(id) ?? 0;
  }

  /** Whether a run ended because people deleted the NodeSet of its worker with the policy that does not wait. */
  endedRun({ node, from: began, until, cutBy }: Stay): boolean {
    const at = cutBy ?? until;
    return this.#removals.some(
      ({ nodeSet, policy, from, to }) =>
        policy === 'Delete' &&
        node.split(',').some((worker) => isOf(worker, nodeSet)) &&
        // One that began later is on a worker of the next NodeSet of that name.
        began <= to + blur &&
        at >= from - blur &&
        at <= to + noticedWithin,
    );
  }

  /** Whether a job ended because people deleted the NodeSet of its partition, with a policy that ends such jobs. */
  endedInPartition({ partition, acceptedAt, endedAt, waits }: InPartition): boolean {
    if (endedAt === undefined) return false;
    const partitions = partition.split(',');
    return this.#removals.some(
      ({ nodeSet, policy, from, to }) =>
        (policy === 'Delete' || waits) &&
        partitionsOf(nodeSet).some((name) => partitions.includes(name)) &&
        acceptedAt <= to + blur &&
        endedAt >= from - blur &&
        endedAt <= to + noticedWithin,
    );
  }
}

const isOf = (worker: string, nodeSet: SetName) => !isForeign(worker) && workerIsOf(worker, nodeSet);
