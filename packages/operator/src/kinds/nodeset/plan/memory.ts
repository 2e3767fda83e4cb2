/**
 * What is remembered about a NodeSet between two reconciles: a value that goes into a plan and comes out of it. Losing it costs time,
 * never safety. Pure.
 */
import type { WorkerAction } from '../model/actions.ts';
import { type Observed, type Refusal, type SlurmView, slotKey, type Worker } from '../model/observed.ts';

export interface NodeSetMemory {
  /** Slurm node name → when it was last changed, or may have been. */
  readonly lastWrites: ReadonlyMap<string, number>;
  /** Slot key → how often its pods failed, and when the next one is created at the earliest. */
  readonly failures: ReadonlyMap<string, Failure>;
  /** Slurm node name → the update that Slurm refused last. */
  readonly refusals: ReadonlyMap<string, Refusal & { readonly count: number }>;
  /** Slurm node name → why its wake-up is abandoned, from the deletion of its pod until Slurm has been told. */
  readonly gaveUp: ReadonlyMap<string, string>;
  /** Jobs that may not be requeued, and can be since their wake-up was abandoned; undefined: only the status knows. */
  readonly requeueable: ReadonlySet<string> | undefined;
  /** Since when workers that should be registered are unknown to Slurm. */
  readonly lostSince: number | undefined;
  /** Until when it is not observed again: see {@link restAfter}. */
  readonly restUntil: number;
  /** Slurm is polled fast for it. */
  readonly pollsFast: boolean;
  /** When a request to create its reservation was sent last whose end is not known. */
  readonly reservationAskedAt: number | undefined;
}

interface Failure {
  readonly count: number;
  /** Of the pod that was counted last. */
  readonly uid: string;
  readonly retryAt: number;
}

/** What acting found out. */
export type Note =
  | { readonly type: 'done'; readonly action: WorkerAction }
  /** A Slurm node was changed at that time, or may have been, or may still be until then. */
  | { readonly type: 'wrote'; readonly slurmName: string; readonly at: number }
  | {
      readonly type: 'refused';
      readonly slurmName: string;
      readonly topology: string | undefined;
      readonly message: string;
      readonly at: number;
    }
  /** A job that may not be requeued can be from now on, or cannot any more. */
  | { readonly type: 'requeueable'; readonly job: string; readonly requeueable: boolean };

export const emptyMemory: NodeSetMemory = {
  lastWrites: new Map(),
  failures: new Map(),
  refusals: new Map(),
  gaveUp: new Map(),
  requeueable: undefined,
  lostSince: undefined,
  restUntil: 0,
  pollsFast: false,
  reservationAskedAt: undefined,
};

/** No write of the operator takes effect later than this. */
const farthestAhead = 60_000;
const firstDelay = 1_000;
const firstRefusalDelay = 60_000;
const longestDelay = 15 * 60_000;
const manyWorkers = 500;
const restPerWorker = 0.05;
const longestRest = 500;

/** What an observation adds to the memory, and what it makes superfluous. */
export function withObservation(
  memory: NodeSetMemory,
  { workers, slurm, requeueable }: Pick<Observed, 'workers' | 'slurm' | 'requeueable'>,
  now: number,
): NodeSetMemory {
  return {
    ...memory,
    failures: noticeFailures(memory.failures, workers, now),
    refusals: forgetRefusals(memory.refusals, workers),
    gaveUp: stillWaking(memory.gaveUp, slurm),
    requeueable: memory.requeueable ?? requeueable,
    lastWrites: slurm.kind === 'known' ? settleWrites(memory.lastWrites, slurm.at, now) : memory.lastWrites,
  };
}

/** What acting adds to it. */
export function withNotes(memory: NodeSetMemory, notes: readonly Note[]): NodeSetMemory {
  if (notes.length === 0) return memory;
  const lastWrites = new Map(memory.lastWrites);
  const refusals = new Map(memory.refusals);
  const gaveUp = new Map(memory.gaveUp);
  const requeueable = new Set(memory.requeueable);
  for (const note of notes) {
    if (note.type === 'wrote')
      // The latest counts, also where it lies ahead.
      lastWrites.set(note.slurmName, Math.max(note.at, lastWrites.get(note.slurmName) ?? note.at));
    else if (note.type === 'refused')
      refusals.set(note.slurmName, nextRefusal(refusals.get(note.slurmName), note));
    else if (note.type === 'requeueable') {
      if (note.requeueable) requeueable.add(note.job);
      else requeueable.delete(note.job);
    } else if (note.action.kind === 'update-node') accept(refusals, note.action);
    else if (note.action.kind === 'delete-worker' && note.action.gaveUp !== undefined)
      gaveUp.set(note.action.slurmName, note.action.gaveUp);
    else if (note.action.kind === 'fail-wake') for (const name of note.action.slurmNames) gaveUp.delete(name);
  }
  return { ...memory, lastWrites, refusals, gaveUp, requeueable };
}

/** An update that is refused repeatedly is retried less and less often; another topology starts again. */
function nextRefusal(
  known: (Refusal & { readonly count: number }) | undefined,
  { topology, message, at }: Extract<Note, { type: 'refused' }>,
): Refusal & { readonly count: number } {
  const count = known !== undefined && known.topology === topology ? known.count + 1 : 1;
  return {
    topology,
    message,
    until: at + Math.min(longestDelay, firstRefusalDelay * 2 ** (count - 1)),
    count,
  };
}

/** A refused topology outlives the success of an update that left it out. */
function accept(
  refusals: Map<string, Refusal & { readonly count: number }>,
  { slurmName, topology }: Extract<WorkerAction, { kind: 'update-node' }>,
): void {
  const known = refusals.get(slurmName);
  if (known !== undefined && (known.topology === undefined || topology !== undefined))
    refusals.delete(slurmName);
}

/** The next worker of that name may be accepted. */
function forgetRefusals(
  refusals: NodeSetMemory['refusals'],
  workers: readonly Worker[],
): NodeSetMemory['refusals'] {
  if (refusals.size === 0) return refusals;
  const present = new Set(workers.map((worker) => worker.slurmName));
  return new Map([...refusals].filter(([slurmName]) => present.has(slurmName)));
}

/** What Slurm does not wait for any more needs no end. */
function stillWaking(gaveUp: NodeSetMemory['gaveUp'], slurm: SlurmView): NodeSetMemory['gaveUp'] {
  if (gaveUp.size === 0 || slurm.kind === 'unknown') return gaveUp;
  return new Map(
    [...gaveUp].filter(([name]) => {
      const flags = slurm.nodes.get(name)?.flags;
      return flags?.has('POWERING_UP') || flags?.has('POWER_UP');
    }),
  );
}

/** A write that a newer list answers need not be remembered. A clock that was set back makes nothing wait for long. */
function settleWrites(
  writes: ReadonlyMap<string, number>,
  listedAt: number,
  now: number,
): ReadonlyMap<string, number> {
  if (writes.size === 0) return writes;
  return new Map(
    [...writes]
      .filter(([, at]) => at >= listedAt)
      .map(([slurmName, at]) => [slurmName, at > now + farthestAhead ? now : at]),
  );
}

/** Slots whose pods fail repeatedly are filled more and more slowly; a worker that is ready clears its slot. */
function noticeFailures(
  failures: NodeSetMemory['failures'],
  workers: readonly Worker[],
  now: number,
): NodeSetMemory['failures'] {
  let next: Map<string, Failure> | undefined;
  for (const worker of workers) {
    const slot = slotKey(worker.slot);
    const known = (next ?? failures).get(slot);
    if (worker.ready && known !== undefined) (next ??= new Map(failures)).delete(slot);
    if (worker.ready || worker.phase !== 'Failed' || known?.uid === worker.uid) continue;
    const count = (known?.count ?? 0) + 1;
    const retryAt = now + Math.min(longestDelay, firstDelay * 2 ** (count - 1));
    (next ??= new Map(failures)).set(slot, { count, uid: worker.uid, retryAt });
  }
  return next ?? failures;
}

/** What a decision about workers sees of it. */
export function rememberedFacts(
  memory: NodeSetMemory,
): Pick<Observed, 'lastWrites' | 'refusals' | 'backoff' | 'lostSince' | 'gaveUp' | 'requeueable'> {
  const { lastWrites, refusals, lostSince, gaveUp, requeueable } = memory;
  return { lastWrites, refusals, backoff: backoffOf(memory), lostSince, gaveUp, requeueable };
}

/** The same for the status: jobs that can be requeued and may not; `more`: those that can be from now on. */
export function requeueableJobs(
  known: ReadonlySet<string> = new Set(),
  more: readonly string[] = [],
): { readonly requeueableJobs?: string[] } {
  const jobs = [...new Set([...known, ...more])];
  return jobs.length === 0 ? {} : { requeueableJobs: jobs };
}

/** Slot key → do not create there before this moment. */
export const backoffOf = ({ failures }: NodeSetMemory): ReadonlyMap<string, number> =>
  new Map([...failures].map(([slot, { retryAt }]) => [slot, retryAt]));

/**
 * While thousands of pods start, each of them triggers a reconcile, and observing thousands costs tens of milliseconds: changes of that
 * time are observed together. By the number of workers and not by the time it took, so that a loaded machine changes nothing.
 */
export function restAfter(workers: number, now: number): number {
  return workers < manyWorkers ? 0 : now + Math.min(longestRest, workers * restPerWorker);
}

/** Milliseconds. A clock that was set back ends it. */
export function restLeft({ restUntil }: NodeSetMemory, now: number): number {
  const left = restUntil - now;
  return left > longestRest ? 0 : Math.max(0, left);
}
