/** Which slots a NodeSet should fill, given those that are taken. */
import { type AutoscaledSlots, autoscaledSlots } from '../autoscale/autoscaled-slots.ts';
import { enoughCapacity } from '../autoscale/capacity.ts';
import { awaitedFrom } from '../autoscale/slot-states.ts';
import { type Observed, type Slot, slotKey, type Worker } from '../model/observed.ts';
import { removalOrder } from './removal-order.ts';

type RemovalOrder = (a: Worker, b: Worker) => number;

/** What autoscaling adds is empty without it. */
export interface SlotPlan extends AutoscaledSlots {
  /** Workers beyond the first in one slot. */
  readonly duplicates: readonly Worker[];
  /** Workers of the other scaling mode. */
  readonly wrongMode: readonly Worker[];
}

export function planSlots(observed: Observed, now: number): SlotPlan {
  const order = removalOrder(now);
  const { inMode: rightMode, wrongMode } = splitByMode(observed);
  const { firsts, duplicates } = onePerSlot(rightMode, order);
  const plan: Pick<SlotPlan, 'kept' | 'surplus' | 'vacant' | 'desired'> =
    observed.scalingMode === 'DaemonSet'
      ? nodeSlots(observed, firsts, order)
      : observed.autoscale === undefined || observed.deleting
        ? ordinalSlots(observed, firsts, order)
        : autoscaledSlots(observed, observed.autoscale, firsts, now);
  return {
    asleep: [],
    notAccepted: [],
    states: [],
    capacity: enoughCapacity,
    ...plan,
    duplicates,
    wrongMode,
  };
}

function splitByMode(observed: Observed): { inMode: Worker[]; wrongMode: Worker[] } {
  const inMode: Worker[] = [];
  const wrongMode: Worker[] = [];
  for (const worker of observed.workers)
    (worker.slot.mode === observed.scalingMode ? inMode : wrongMode).push(worker);
  return { inMode, wrongMode };
}

/** Of several workers in one slot the one that would be missed most stays. */
function onePerSlot(
  workers: readonly Worker[],
  order: RemovalOrder,
): { firsts: Worker[]; duplicates: Worker[] } {
  const bySlot = new Map<string, Worker[]>();
  for (const worker of workers) {
    const slot = slotKey(worker.slot);
    const rivals = bySlot.get(slot);
    if (rivals === undefined) bySlot.set(slot, [worker]);
    else rivals.push(worker);
  }
  const firsts: Worker[] = [];
  const duplicates: Worker[] = [];
  for (const rivals of bySlot.values()) {
    const [last, ...others] = rivals.length === 1 ? rivals : rivals.toSorted((a, b) => -order(a, b));
    if (last !== undefined) firsts.push(last);
    duplicates.push(...others);
  }
  return { firsts, duplicates };
}

function ordinalSlots(
  observed: Observed,
  workers: readonly Worker[],
  order: RemovalOrder,
): Pick<SlotPlan, 'kept' | 'surplus' | 'vacant' | 'desired'> {
  const desired = observed.deleting ? 0 : observed.replicas;
  // A terminating pod keeps its slot until it is gone: its successor needs the name.
  // On a machine that does not answer that may be never, so there it is not waited for: another ordinal serves.
  const leaving = workers.filter((worker) => worker.terminating && worker.nodeReachable);
  const staying = workers.filter((worker) => !worker.terminating);
  const surplusCount = Math.max(0, staying.length - desired);
  // The order matters only if there are removals.
  const candidates = surplusCount === 0 ? staying : staying.toSorted(order);
  const surplus = candidates.slice(0, surplusCount);
  const kept = candidates.slice(surplusCount);
  const taken = new Set(
    [...workers, ...observed.orphans, ...observed.released, ...observed.foreignPods].map(({ slot }) =>
      slot.mode === 'StatefulSet' ? slot.ordinal : -1,
    ),
  );
  const vacant: Slot[] = [];
  // Terminating pods of slots that stay wanted will be replaced in place; they count as filled until they are gone.
  // So do orphans, which are about to be workers.
  const joining = observed.orphans.filter(({ slot }) => slot.mode === 'StatefulSet').length;
  const missing = Math.max(0, desired - kept.length - leaving.length - joining);
  // Of a set that was autoscaled until now: Slurm has given these nodes to jobs, and no pod was created yet.
  const isEnded = observed.deleting && (observed.deletionPolicy === 'Delete' || !observed.controllerExists);
  for (const ordinal of isEnded ? [] : awaitedFrom(0, observed))
    if (!taken.has(ordinal)) {
      taken.add(ordinal);
      vacant.push({ mode: 'StatefulSet', ordinal });
    }
  for (let ordinal = 0; vacant.length < missing; ordinal += 1)
    if (!taken.has(ordinal)) vacant.push({ mode: 'StatefulSet', ordinal });
  return { kept, surplus, vacant, desired };
}

function nodeSlots(
  observed: Observed,
  workers: readonly Worker[],
  order: RemovalOrder,
): Pick<SlotPlan, 'kept' | 'surplus' | 'vacant' | 'desired'> {
  const nodeOf = (worker: Worker) => (worker.slot.mode === 'DaemonSet' ? worker.slot.nodeName : '');
  const staying = new Set(workers.filter((worker) => !worker.terminating).map(nodeOf));
  const wanted = observed.deleting
    ? []
    : [...observed.nodes.values()]
        .filter((node) => node.eligible || (node.mayStay && staying.has(node.name)))
        .map((node) => node.name);
  const wantedSet = new Set(wanted);
  const joining = observed.orphans.map(({ slot }) => (slot.mode === 'DaemonSet' ? slot.nodeName : ''));
  const taken = new Set([...workers.map(nodeOf), ...joining]);
  const stays = (worker: Worker) =>
    wantedSet.has(nodeOf(worker)) && !observed.yieldedNames.has(worker.slurmName);
  return {
    kept: workers.filter((worker) => stays(worker) && !worker.terminating),
    surplus: workers.filter((worker) => !stays(worker) && !worker.terminating).toSorted(order),
    vacant: wanted
      .filter((name) => !taken.has(name))
      .toSorted()
      .map((nodeName) => ({ mode: 'DaemonSet', nodeName })),
    desired: wanted.length,
  };
}
