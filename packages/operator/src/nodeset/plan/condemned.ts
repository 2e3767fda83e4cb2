/**
 * Who must go, and why: a list of small rules, tried in order; the first that names a worker decides.
 * Going is not dying: a condemned worker is drained, and deleted only when `safeToDelete` says so. Nothing here is
 * remembered between two plans, so whoever is not condemned any more is simply kept (and undrained) again.
 */
import type { WhyGone } from './actions.ts';
import { isAvailable, isCurrent, isDead, isHealthy } from './availability.ts';
import { askAbout } from './node-state.ts';
import type { Observed, Worker } from './observed.ts';
import type { SlotPlan } from './slots.ts';
import { victimOrder } from './victim-order.ts';

/** A worker that Slurm does not list is given this long after it became ready. */
export const registrationGrace = 3 * 60_000;
/** A slurmctld younger than this may not have heard from all its nodes. */
export const controllerYouth = 5 * 60_000;

export interface Condemned {
  readonly workers: ReadonlyMap<Worker, WhyGone>;
  /** Decisions not taken, and why: shown in metrics and conditions. */
  readonly withheld: readonly string[];
  /** When a decision that only time holds back may be taken. */
  readonly wakeAt: number | undefined;
}

export function condemn(observed: Observed, slots: SlotPlan, now: number): Condemned {
  const going = new Map<Worker, WhyGone>();
  const withheld: string[] = [];
  if (observed.deleting) {
    for (const worker of observed.workers) going.set(worker, 'deletion');
    return { workers: going, withheld, wakeAt: undefined };
  }

  for (const worker of slots.surplus) going.set(worker, 'scale-in');
  for (const worker of slots.duplicates) going.set(worker, 'duplicate');
  for (const worker of slots.kept) if (isDead(worker)) going.set(worker, 'failed');

  const budget = new Budget(observed, slots, going, now);
  for (const { worker, why, budgeted } of outdated(observed, slots, going, now)) {
    // Replacing what is not available anyway takes nothing away. What an unreachable machine reports is no evidence.
    if (!isAvailable(worker, observed, now)) {
      if (worker.nodeReachable) going.set(worker, why);
    } else if (!budgeted || budget.take()) {
      going.set(worker, why);
    }
  }
  for (const worker of slots.wrongMode.toSorted(victimOrder(now)))
    if (budget.takeFor(worker)) going.set(worker, 'wrong-mode');
  const unregistered = condemnUnregistered(observed, slots, going, budget, now);
  withheld.push(...unregistered.withheld);
  return { workers: going, withheld, wakeAt: unregistered.wakeAt };
}

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
  const order = victimOrder(now);
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

/** Law L3: how many available workers our own actions may still take away. */
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

  /** A worker of the other mode that serves nobody costs nothing. */
  takeFor(worker: Worker): boolean {
    return isHealthy(worker) ? this.take() : worker.nodeReachable;
  }
}

/** Law L10: healthy, but unknown to Slurm. Replacing helps one worker; it never helps against a slurmctld that forgot them all. */
function condemnUnregistered(
  observed: Observed,
  slots: SlotPlan,
  going: Map<Worker, WhyGone>,
  budget: Budget,
  now: number,
): { withheld: string[]; wakeAt: number | undefined } {
  const { slurm } = observed;
  if (slurm.kind === 'unknown') return { withheld: [], wakeAt: undefined };
  const healthy = slots.kept.filter(
    (worker) => isAvailable(worker, observed, now) && worker.nodeReachable && !going.has(worker),
  );
  const absent = healthy.filter((worker) => askAbout(worker, observed).kind === 'absent');
  if (absent.length === 0) return { withheld: [], wakeAt: undefined };
  if (slurm.controllerStartedAt === undefined || now - slurm.controllerStartedAt < controllerYouth) {
    const wakeAt =
      slurm.controllerStartedAt === undefined ? undefined : slurm.controllerStartedAt + controllerYouth;
    return {
      withheld: [`${absent.length} workers are not registered, but slurmctld has only just started`],
      wakeAt,
    };
  }
  if (healthy.length > 2 && absent.length * 2 > healthy.length) {
    return {
      withheld: [
        `${absent.length} of ${healthy.length} workers are unknown to Slurm: slurmctld seems to have lost its nodes, so none is replaced`,
      ],
      wakeAt: undefined,
    };
  }
  const withheld: string[] = [];
  let wakeAt: number | undefined;
  for (const worker of absent.toSorted(victimOrder(now))) {
    const ripeAt = (worker.readySince ?? now) + registrationGrace;
    if (now < ripeAt) wakeAt = Math.min(wakeAt ?? ripeAt, ripeAt);
    else if (budget.take()) going.set(worker, 'unregistered');
    else withheld.push(`${worker.name} is not registered in Slurm; it waits for the disruption budget`);
  }
  return { withheld, wakeAt };
}
