/** Law A1: a pod is desired where the last known list says neither "powered down" nor "powering down". */

import type { Autoscale } from '../model/autoscale.ts';
import { isHealthy } from '../model/availability.ts';
import type { Observed, Slot, Worker } from '../model/observed.ts';
import { type CapacityPlan, planCapacity } from './capacity.ts';
import { isRequested, type SlotView, slotStates } from './slot-states.ts';

export interface AutoscaledSlots {
  /** Workers that hold a slot the NodeSet wants. */
  readonly kept: readonly Worker[];
  /** Workers whose slot is not wanted any more, in the order they are removed. */
  readonly surplus: readonly Worker[];
  /** Wanted slots that no worker holds. */
  readonly vacant: readonly Slot[];
  readonly desired: number;
  /** Workers whose node Slurm powered down. */
  readonly asleep: readonly Worker[];
  /** Workers that Slurm does not accept as the ones that it powers up. */
  readonly notAccepted: readonly Worker[];
  /** Workers that no Kubernetes node has room for. */
  readonly capacity: CapacityPlan;
  /** The state of every slot. */
  readonly states: readonly SlotView[];
}

export function autoscaledSlots(
  observed: Observed,
  autoscale: Autoscale,
  workers: readonly Worker[],
  now: number,
): AutoscaledSlots {
  const states = slotStates(observed, autoscale);
  const capacity = planCapacity(observed, autoscale, states, now);
  const byWorker = new Map(states.flatMap((slot) => (slot.worker ? [[slot.worker, slot] as const] : [])));
  const kept: Worker[] = [];
  const asleep: Worker[] = [];
  const surplus: Worker[] = [];
  const notAccepted: Worker[] = [];
  for (const worker of workers) {
    if (worker.terminating) continue;
    const slot = byWorker.get(worker);
    if (slot === undefined) surplus.push(worker);
    else if (slot.state === 'Stopping') asleep.push(worker);
    else if (capacity.abandoned.has(worker)) continue;
    else if (isNotAccepted(slot, observed)) notAccepted.push(worker);
    else kept.push(worker);
  }
  const vacant = states
    .filter((slot) => !slot.hasPod && wantsPod(slot) && !observed.gaveUp?.has(slot.slurmName))
    .toSorted(byJob(observed))
    .map(({ ordinal }): Slot => ({ mode: 'StatefulSet', ordinal }));
  const returning = states.filter((slot) => slot.worker?.terminating === true && wantsPod(slot)).length;
  const desired = kept.length + notAccepted.length + vacant.length + returning;
  return { kept, asleep, notAccepted, surplus, vacant, states, capacity, desired };
}

/** The scheduler of Kubernetes takes pods in the order of their creation: those of one job together, those of high priority first. */
function byJob({ slurm }: Observed): (a: SlotView, b: SlotView) => number {
  const jobs = slurm.kind === 'known' ? (slurm.jobs ?? []) : [];
  const order = [...jobs].toSorted((a, b) => b.priority - a.priority || Number(a.id) - Number(b.id));
  const rank = new Map(
    order.toReversed().flatMap(({ nodes }, at) => nodes.map((name) => [name, -at] as const)),
  );
  const rankOf = ({ slurmName }: SlotView) => rank.get(slurmName) ?? 1;
  return (a, b) => rankOf(a) - rankOf(b) || a.ordinal - b.ordinal;
}

/** Where Slurm is unknown, or has no record, the pod that is there stays and none is created. */
const wantsPod = ({ state, node }: SlotView): boolean =>
  state === 'Awake' || (state === 'Waking' && node !== undefined && !isRequested(node));

/** A slurmd registers when it starts, and Slurm believes one that started after it powered the node up. */
const acceptedWithin = 60_000;

/** When a worker that is ready and whose node is still being powered up is replaced. */
export function notAcceptedFrom({ state, worker }: SlotView): number | undefined {
  if (state !== 'Waking' || worker?.readySince === undefined || !isHealthy(worker)) return undefined;
  return worker.readySince + acceptedWithin;
}

/**
 * Ready for long, and its node is still being powered up: it is the pod of an earlier wake-up, or the clock of its machine is behind.
 * Only a slurmd that starts now is believed.
 */
function isNotAccepted(slot: SlotView, { slurm }: Observed): boolean {
  const from = notAcceptedFrom(slot);
  return from !== undefined && slurm.kind === 'known' && slurm.at > from;
}
