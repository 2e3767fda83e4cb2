/**
 * Which sleeping slots are woken, which idle workers go to sleep, and which records are created: Slurm decides about jobs, this about
 * the rest. Pure. A slot that Slurm itself wakes needs nothing here: its pod is desired because its record says so.
 */
import type { WorkerAction } from '../model/actions.ts';
import type { Autoscale, WakeHistory } from '../model/autoscale.ts';
import { isHealthy } from '../model/availability.ts';
import { isBusy, isRegisteredBy } from '../model/node-state.ts';
import type { Observed, SlurmNode } from '../model/observed.ts';
import { type AutoscaledSlots, notAcceptedFrom } from './autoscaled-slots.ts';
import { planOffered } from './offered.ts';
import { askAgain, isOutdated, otherFeatures, recordsToCreate, replaceable } from './sleeping-records.ts';
import type { SlotView } from './slot-states.ts';
import { wakeHistory } from './wake-history.ts';

/** What a plan says about autoscaling, for the status. */
export interface AutoscaleSummary {
  readonly slots: readonly SlotView[];
  readonly visible: number;
  readonly awake: number;
  readonly waking: number;
  readonly sleeping: number;
  readonly stopping: number;
  readonly cooling: number;
  readonly history: WakeHistory;
  /** When sleeping slots are offered again; undefined while they are. */
  readonly nextTryAt: number | undefined;
  /** Why slots cool, in the words of the record; undefined while none does. */
  readonly coolingBecause: string | undefined;
  /** Records that the Controller is asked to create. */
  readonly recordsToCreate: readonly string[];
}

export interface PowerPlan {
  readonly actions: readonly WorkerAction[];
  readonly withheld: readonly string[];
  /** When time alone changes the decision. */
  readonly wakeAt: number | undefined;
  /** Slurm wakes a slot at any moment, and its pod should not wait for the next slow poll. */
  readonly awaitsSlurm: boolean;
  readonly summary: AutoscaleSummary | undefined;
}

export function planPower(
  observed: Observed,
  { states: slots, capacity }: Pick<AutoscaledSlots, 'states' | 'capacity'>,
  now: number,
): PowerPlan {
  const { autoscale } = observed;
  if (autoscale === undefined || slots.length === 0) return nothingToPower;
  const count = (...states: SlotView['state'][]) =>
    slots.filter(({ state }) => states.includes(state)).length;
  if (observed.slurm.kind === 'unknown') return { ...nothingToPower, awaitsSlurm: true };
  const records = recordsToCreate(observed, autoscale, slots);
  const history = wakeHistory(autoscale, slots, now);
  const offered = planOffered(observed, autoscale, slots, history, now);
  const balance = keptAwake(autoscale, slots, offered.mayWake);
  const sleep = goToSleep(observed, autoscale, slots, { ...balance, hungry: capacity.waiting.length }, now);
  const names = (some: readonly SlotView[]) => some.map(({ slurmName }) => slurmName);
  const each = (
    kind: 'power-up' | 'power-down' | 'mark-asleep',
    some: readonly SlotView[],
  ): WorkerAction[] => (some.length === 0 ? [] : [{ kind, slurmNames: names(some) }]);
  const slow = slots.flatMap((slot) => notAcceptedFrom(slot) ?? []);
  const gone = slots.filter(
    (slot) => slot.state === 'Stopping' && !slot.hasPod && !isOutdated(slot, autoscale),
  );
  const outdated = replaceable(observed, autoscale, slots);
  return {
    actions: [
      ...records.actions,
      // Law A4: its pod is gone, so what Slurm powers up next is another one.
      ...each('mark-asleep', [...gone, ...offered.toOffer]),
      ...offered.actions,
      ...each('power-up', balance.toWake),
      ...otherFeatures(observed, slots, autoscale),
      // Slurm refuses this for a node that got a job meanwhile.
      ...outdated.now.map(({ slurmName }): WorkerAction => ({ kind: 'delete-record', slurmName })),
      ...each('power-down', sleep.due),
    ],
    withheld: records.withheld,
    wakeAt: [
      sleep.nextAt,
      offered.nextAt,
      capacity.nextAt,
      outdated.needed ? now + askAgain : undefined,
      ...slow.map((at) => at + 1),
    ].reduce(earliest),
    awaitsSlurm: true,
    summary: {
      slots,
      visible: slots.length - count('Missing', 'Unknown', 'Foreign'),
      awake: count('Awake'),
      waking: count('Waking'),
      sleeping: count('Sleeping'),
      stopping: count('Stopping'),
      cooling: count('Cooling'),
      history,
      nextTryAt: offered.nextTryAt,
      coolingBecause: offered.because,
      recordsToCreate: records.byController,
    },
  };
}

const nothingToPower: PowerPlan = {
  actions: [],
  withheld: [],
  wakeAt: undefined,
  awaitsSlurm: false,
  summary: undefined,
};

/** Law A5: as many workers as `min` and `spare` ask for are awake, where there are slots to wake. */
function keptAwake(
  autoscale: Autoscale,
  slots: readonly SlotView[],
  mayWake: boolean,
): { readonly toWake: readonly SlotView[]; readonly surplus: number } {
  const { min, spare } = autoscale;
  const usable = slots.filter(
    ({ state, node }) => state === 'Waking' || (state === 'Awake' && canWork(node)),
  );
  const busy = usable.filter(({ node }) => node !== undefined && isBusy(node)).length;
  const wanted = Math.max(min, busy + spare);
  const missing = mayWake ? Math.max(0, wanted - usable.length) : 0;
  return {
    toWake: slots
      .filter((slot) => slot.state === 'Sleeping' && !isOutdated(slot, autoscale))
      .slice(0, missing),
    surplus: usable.length - wanted,
  };
}

function canWork(node: SlurmNode | undefined): boolean {
  return node !== undefined && ['IDLE', 'MIXED', 'ALLOCATED'].includes(node.base) && !node.flags.has('DRAIN');
}

/** Law A3: what someone drained, reserved or planned stays awake: powering down would remove the drain. */
const keepsAwake = [
  'DRAIN',
  'RESERVED',
  'MAINTENANCE',
  'PLANNED',
  'COMPLETING',
  'NOT_RESPONDING',
  'INVALID_REG',
  'FAIL',
  'BLOCKED',
  'REBOOT_ISSUED',
  'REBOOT_REQUESTED',
  'POWER_DOWN',
  'POWER_DRAIN',
];

/** Nothing runs there, nothing is planned there, and no one has drained or reserved it. */
export function maySleep(node: Pick<SlurmNode, 'base' | 'flags' | 'reservation' | 'deadline'>): boolean {
  return (
    node.base === 'IDLE' &&
    node.deadline === undefined &&
    node.reservation === undefined &&
    !keepsAwake.some((flag) => node.flags.has(flag))
  );
}

function goToSleep(
  observed: Observed,
  { idleAfter }: Autoscale,
  slots: readonly SlotView[],
  { surplus, hungry }: { readonly surplus: number; readonly hungry: number },
  now: number,
): { readonly due: readonly SlotView[]; readonly nextAt: number | undefined } {
  // A node whose only job is suspended is listed as idle.
  if (surplus <= 0 || observed.slurm.kind === 'unknown' || observed.slurm.jobsUnknown !== undefined)
    return { due: [], nextAt: undefined };
  const idle = slots.flatMap((slot) => {
    const { node, worker, state } = slot;
    if (state !== 'Awake' || node === undefined || worker === undefined || !maySleep(node)) return [];
    if (!isHealthy(worker) || worker.cordoned || !isRegisteredBy(node, worker)) return [];
    return [{ slot, at: idleSince(node) + idleAfter }];
  });
  const isOld = (slot: SlotView) => slot.worker?.revision !== observed.updateRevision;
  const due = idle
    .toSorted((a, b) => a.at - b.at)
    // A worker that waits for a machine gets the one of an idle worker at once.
    .filter(({ at }, index) => at <= now || index < hungry)
    .toSorted((a, b) => Number(isOld(b.slot)) - Number(isOld(a.slot)) || b.slot.ordinal - a.slot.ordinal)
    .slice(0, surplus);
  const later = idle.filter(({ at }) => at > now).map(({ at }) => at);
  return {
    due: due.map(({ slot }) => slot),
    nextAt: later.length === 0 ? undefined : Math.min(...later),
  };
}

/** Both are in Slurm's clock, as the list is. A node that never had work is idle since its slurmd started. */
function idleSince({ lastBusyAt, slurmdStartedAt }: SlurmNode): number {
  return Math.max(lastBusyAt ?? 0, slurmdStartedAt ?? 0);
}

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
