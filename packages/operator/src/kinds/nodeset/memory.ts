/** What the operator remembers about a NodeSet between two reconciles. Losing it costs time, never safety. */

import type { SlurmGateway } from '../../slurm-connection/slurm-gateway.ts';
import { SeenBefore } from './observe/seen-before.ts';
import { type Refusal, slotKey, type Worker } from './plan/observed.ts';

/** No change of ours may happen later than this. */
const farthestAhead = 60_000;
const firstDelay = 1_000;
const firstRefusalDelay = 60_000;
const longestDelay = 15 * 60_000;
const manyWorkers = 500;
const restPerWorker = 0.05;
const longestRest = 500;

export class NodeSetMemory {
  readonly uid: string;
  readonly lastWrites = new Map<string, number>();
  readonly backoff = new Map<string, number>();
  readonly seen = new SeenBefore();
  readonly refusals = new Map<string, Refusal & { readonly count: number }>();
  lostSince: number | undefined;
  #asked: SlurmGateway | undefined;
  #restUntil = Number.NEGATIVE_INFINITY;
  readonly #failures = new Map<string, { count: number; lastUid: string }>();

  constructor(uid: string) {
    this.uid = uid;
  }

  /** Asks Slurm often, or not any more; whoever asked before and is gone now is released. */
  expect(gateway: SlurmGateway | undefined, who: string, expecting: boolean): void {
    if (this.#asked !== gateway) this.#asked?.expectChanges(who, false);
    this.#asked = gateway;
    gateway?.expectChanges(who, expecting);
  }

  /** Milliseconds for which it is not looked at again, however much happens: see {@link looked}. */
  restLeft(monotonic: number): number {
    return Math.max(0, this.#restUntil - monotonic);
  }

  /**
   * While thousands of pods come up each of them asks for a look, and a look at thousands costs tens of milliseconds: what comes
   * meanwhile is looked at together. By the number of workers and not by the time it took, so that a loaded machine changes nothing.
   */
  looked(monotonic: number, workers: number): void {
    const rest = workers < manyWorkers ? 0 : Math.min(longestRest, workers * restPerWorker);
    this.#restUntil = monotonic + rest;
  }

  /** Whether some workers that should be registered are unknown to Slurm now. */
  noticeUnregistered(some: boolean, now: number): void {
    this.lostSince = some ? Math.min(this.lostSince ?? now, now) : undefined;
  }

  /** The latest counts, also where it lies ahead. */
  wrote(slurmName: string, at: number): void {
    this.lastWrites.set(slurmName, Math.max(at, this.lastWrites.get(slurmName) ?? at));
  }

  /** What a list newer than all it concerns has answered need not be remembered. A clock that was set back makes nobody wait for long. */
  settle(listedAt: number, now = listedAt): void {
    for (const [slurmName, at] of this.lastWrites) {
      if (at < listedAt) this.lastWrites.delete(slurmName);
      else if (at > now + farthestAhead) this.lastWrites.set(slurmName, now);
    }
  }

  /** What is refused again and again is asked for more and more rarely; another topology is another matter. */
  refused(slurmName: string, topology: string | undefined, message: string, now: number): void {
    const known = this.refusals.get(slurmName);
    const count = known?.topology === topology ? (known?.count ?? 0) + 1 : 1;
    const until = now + Math.min(longestDelay, firstRefusalDelay * 2 ** (count - 1));
    this.refusals.set(slurmName, { topology, message, until, count });
  }

  /** A refused topology outlives the success of an update that left it out. */
  accepted(slurmName: string, topology: string | undefined): void {
    const known = this.refusals.get(slurmName);
    if (known !== undefined && (known.topology === undefined || topology !== undefined))
      this.refusals.delete(slurmName);
  }

  /** Whoever comes under the name of a worker that is gone is asked for anew. */
  forgetRefusalsOfOthers(workers: readonly Worker[]): void {
    if (this.refusals.size === 0) return;
    const there = new Set(workers.map((worker) => worker.slurmName));
    for (const slurmName of this.refusals.keys()) if (!there.has(slurmName)) this.refusals.delete(slurmName);
  }

  /** Slots whose pods fail again and again are filled more and more slowly; a worker that is ready clears its slot. */
  noticeFailures(workers: readonly Worker[], now: number): void {
    for (const worker of workers) {
      const slot = slotKey(worker.slot);
      if (worker.ready) {
        this.#failures.delete(slot);
        this.backoff.delete(slot);
      } else if (worker.phase === 'Failed') {
        const known = this.#failures.get(slot);
        if (known?.lastUid === worker.uid) continue;
        const count = (known?.count ?? 0) + 1;
        this.#failures.set(slot, { count, lastUid: worker.uid });
        this.backoff.set(slot, now + Math.min(longestDelay, firstDelay * 2 ** (count - 1)));
      }
    }
  }
}

export class NodeSetMemories {
  readonly #byKey = new Map<string, NodeSetMemory>();

  /** A NodeSet that was deleted and made again begins with a clean memory. */
  of(key: string, uid: string): NodeSetMemory {
    const known = this.#byKey.get(key);
    if (known?.uid === uid) return known;
    const fresh = new NodeSetMemory(uid);
    this.#byKey.set(key, fresh);
    return fresh;
  }

  forget(key: string): void {
    this.#byKey.get(key)?.expect(undefined, `nodeset ${key}`, false);
    this.#byKey.delete(key);
  }
}
