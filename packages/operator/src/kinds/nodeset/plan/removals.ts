/**
 * Who must go, and why: a list of small rules, tried in order; the first that names a worker decides.
 * Selection is not deletion: a worker to remove is drained, and deleted only when `safeToDelete` says so. Nothing here is
 * remembered between two plans, so a worker that no rule names any more is kept, and undrained, again.
 */
import type { WhyGone } from '../model/actions.ts';
import { deadFrom, isAvailable, isCurrent, isHealthy } from '../model/availability.ts';
import { askAbout } from '../model/node-state.ts';
import type { Observed, Worker } from '../model/observed.ts';
import { hasLostState, replacedFrom, timeText, unregisteredOf } from './lost-state.ts';
import { removalOrder } from './removal-order.ts';
import type { SlotPlan } from './slots.ts';

/** A slurmctld younger than this may not have heard from all its nodes. */
export const controllerWarmup = 5 * 60_000;

export interface Removals {
  readonly workers: ReadonlyMap<Worker, WhyGone>;
  /** Decisions not taken, and why: shown in metrics and conditions. */
  readonly withheld: readonly string[];
  /** Some workers that should be registered are unknown to Slurm. */
  readonly hasUnregistered: boolean;
  /** When a decision that only time holds back may be taken. */
  readonly wakeAt: number | undefined;
}

export function chooseRemovals(observed: Observed, slots: SlotPlan, now: number): Removals {
  const going = new Map<Worker, WhyGone>();
  const withheld: string[] = [];
  if (observed.deleting) {
    for (const worker of observed.workers) going.set(worker, 'deletion');
    return { workers: going, withheld, hasUnregistered: hasUnregistered(observed, now), wakeAt: undefined };
  }

  for (const worker of slots.surplus) going.set(worker, 'scale-in');
  for (const worker of slots.asleep) going.set(worker, 'sleep');
  for (const worker of slots.notAccepted) going.set(worker, 'slow-wake');
  for (const worker of slots.capacity.abandoned.keys()) going.set(worker, 'no-machine');
  for (const worker of slots.duplicates) going.set(worker, 'duplicate');
  let deadAt: number | undefined;
  for (const worker of slots.kept) {
    const from = deadFrom(worker);
    if (from === undefined) continue;
    if (from <= now) going.set(worker, 'failed');
    else deadAt = Math.min(deadAt ?? from, from);
  }

  const budget = new Budget(observed, slots, going, now);
  for (const { worker, why, budgeted } of outdated(observed, slots, going, now)) {
    // Replacing what is not available anyway takes nothing away. What an unreachable machine reports is no evidence.
    if (!isAvailable(worker, observed, now)) {
      if (worker.nodeReachable) going.set(worker, why);
    } else if (!budgeted || budget.take()) {
      going.set(worker, why);
    }
  }
  for (const worker of slots.wrongMode.toSorted(removalOrder(now)))
    if (budget.takeFor(worker)) going.set(worker, 'wrong-mode');
  const unregistered = removeUnregistered(observed, slots, going, budget, now);
  withheld.push(...unregistered.withheld);
  return {
    workers: going,
    withheld,
    hasUnregistered: hasUnregistered(observed, now),
    wakeAt: earliest(deadAt, unregistered.wakeAt),
  };
}

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** Workers that the update strategy wants replaced now, budget aside, in the order they go. */
function outdated(
  observed: Observed,
  slots: SlotPlan,
  going: ReadonlyMap<Worker, WhyGone>,
  now: number,
): Outdated[] {
  const found: Outdated[] = [];
  // A maintenance window was agreed with Slurm for all its nodes at once; every other replacement keeps to the budget.
  const budgeted = observed.update.type !== 'ScheduledUpdate';
  const order = removalOrder(now);
  for (const worker of slots.kept) {
    if (going.has(worker)) continue;
    if (
      worker.slot.mode === 'DaemonSet' &&
      observed.nodes.get(worker.slot.nodeName)?.workerHostname !== worker.slurmName
    )
      found.push({ worker, why: 'hostname', budgeted: true });
    else if (!isCurrent(worker, observed) && mayUpdate(observed, worker))
      found.push({ worker, why: 'update', budgeted });
  }
  return found.toSorted((a, b) => order(a.worker, b.worker));
}

interface Outdated {
  readonly worker: Worker;
  readonly why: WhyGone;
  readonly budgeted: boolean;
}

function mayUpdate(observed: Observed, worker: Worker): boolean {
  const { update } = observed;
  if (update.paused || observed.updateHeld !== undefined) return false;
  switch (update.type) {
    case 'OnDelete':
      return false;
    case 'RollingUpdate':
      return worker.slot.mode === 'DaemonSet' || worker.slot.ordinal >= update.partition;
    case 'ScheduledUpdate': {
      if (!isHealthy(worker)) return true;
      const answer = askAbout(worker, observed);
      return (
        answer.kind === 'present' &&
        answer.node.flags.has('MAINTENANCE') &&
        answer.node.reservation === update.reservation
      );
    }
    default:
      return false;
  }
}

/** Law L3: how many available workers our own actions may still remove. */
class Budget {
  #left: number;

  constructor(observed: Observed, slots: SlotPlan, going: ReadonlyMap<Worker, WhyGone>, now: number) {
    const serving = [...slots.kept, ...slots.wrongMode].filter(
      (worker) => !going.has(worker) && isAvailable(worker, observed, now),
    ).length;
    this.#left = observed.update.maxUnavailable - (slots.desired - serving);
  }

  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** A worker of the other mode that is not available costs nothing. */
  takeFor(worker: Worker): boolean {
    return isHealthy(worker) ? this.take() : worker.nodeReachable;
  }
}

/**
 * Law L10: healthy, but unknown to Slurm. A slurmd registers once, so it stays unknown to a slurmctld that lost its state until its pod is
 * replaced. That waits until a state that was only mislaid would be back, and for work that a worker had when Slurm last knew it.
 */
function removeUnregistered(
  observed: Observed,
  slots: SlotPlan,
  going: Map<Worker, WhyGone>,
  budget: Budget,
  now: number,
): Pick<Removals, 'withheld' | 'wakeAt'> {
  const { slurm } = observed;
  if (slurm.kind === 'unknown') return noReplacements;
  const { healthy, absent } = unregisteredOf(observed, slots.kept, going, now);
  if (absent.length === 0) return noReplacements;
  const lostState = hasLostState(healthy.length, absent.length);
  const { controllerStartedAt } = slurm;
  if (controllerStartedAt === undefined || now - controllerStartedAt < controllerWarmup) {
    return {
      withheld: [`${absent.length} workers are not registered, but slurmctld has just started`],
      wakeAt: controllerStartedAt === undefined ? undefined : controllerStartedAt + controllerWarmup,
    };
  }
  const withheld: string[] = [];
  let wakeAt: number | undefined;
  // A replacement that registered shows that others will: as many as are registered may follow at once.
  let proven = lostState ? healthy.length - absent.length - (slots.desired - healthy.length) : 0;
  for (const worker of absent.toSorted(removalOrder(now))) {
    const eligibleAt = replacedFrom(worker, observed, controllerStartedAt, lostState, now);
    if (now < eligibleAt) {
      wakeAt = Math.min(wakeAt ?? eligibleAt, eligibleAt);
      withheld.push(`${worker.name} is not registered in Slurm; it stays until ${timeText(eligibleAt)}`);
    } else if (budget.take() || (proven -= 1) >= 0) going.set(worker, 'unregistered');
    else withheld.push(`${worker.name} is not registered in Slurm; it waits for the disruption budget`);
  }
  return { withheld, wakeAt };
}

const noReplacements = { withheld: [], wakeAt: undefined };

/**
 * Workers that are being removed count as well, and broken ones whose work is on record: how long they are kept is counted from the moment
 * that this was first seen.
 */
const hasUnregistered = (observed: Observed, now: number): boolean =>
  unregisteredOf(observed, observed.workers, new Map(), now).absent.length > 0 ||
  observed.workers.some(
    (worker) => worker.writtenDeadline !== undefined && askAbout(worker, observed).kind === 'absent',
  );
