/**
 * Which sleeping slots are offered to Slurm. Pure. A slot is withdrawn by a drain of ours, which Slurm itself ends after a time, so that
 * capacity comes back even if the operator does not.
 */
import { reasonPrefix } from '@slurm-operator/api';
import type { WorkerAction } from '../model/actions.ts';
import type { Autoscale, WakeHistory } from '../model/autoscale.ts';
import { isOurDrain } from '../model/node-state.ts';
import type { Observed } from '../model/observed.ts';
import { isHeldByManual, isPoweringUp, type SlotView } from './slot-states.ts';
import { gaveUpReason, halfOpenAfter, hasFailed, isCooled, manualReason } from './wake-history.ts';

export interface OfferedPlan {
  readonly actions: readonly WorkerAction[];
  /** Slots that Slurm may use again. */
  readonly toOffer: readonly SlotView[];
  /** Sleeping slots may be woken now. */
  readonly mayWake: boolean;
  readonly nextAt: number | undefined;
  /** When sleeping slots are offered again; undefined while they are. */
  readonly nextTryAt: number | undefined;
  readonly because: string | undefined;
}

export function planOffered(
  observed: Observed,
  autoscale: Autoscale,
  slots: readonly SlotView[],
  history: WakeHistory,
  now: number,
): OfferedPlan {
  const until = cooledUntil(autoscale, slots, history);
  const isCooling = until !== undefined && now < until;
  const asleep = slots.filter(({ state }) => state === 'Sleeping');
  const back = returning(autoscale, slots, history, until, now);
  return {
    actions: [
      ...failedWakeUps(observed, autoscale, slots, now),
      ...withdrawn(autoscale, asleep, isCooling ? until : undefined, now),
    ],
    toOffer: [
      ...(isCooling ? [] : back.due),
      ...(autoscale.wake === 'Manual' ? [] : asleep.filter(({ node }) => node && isHeldByManual(node))),
    ],
    mayWake: !isCooling,
    nextAt: isCooling ? Math.min(until, back.nextAt ?? until) : back.nextAt,
    nextTryAt: isCooling ? until : undefined,
    because: slots.find(({ node }) => node && hasFailed(node))?.node?.reason,
  };
}

/**
 * No machine came for one slot, so none would come for the others; a worker that did not start for another reason says nothing about
 * them, unless that happened repeatedly.
 */
function cooledUntil(
  { retryAfter }: Autoscale,
  slots: readonly SlotView[],
  { failures, lastFailureAt, protectedSince }: WakeHistory,
): number | undefined {
  if (failures === 0 || lastFailureAt === undefined) return undefined;
  if (protectedSince !== undefined) return lastFailureAt + halfOpenAfter;
  const times = slots.flatMap(({ node }) =>
    node?.base === 'DOWN' && node.reason.startsWith(gaveUpReason) ? (node.reasonSetAt ?? []) : [],
  );
  return times.length === 0 ? undefined : Math.max(...times) + retryAfter;
}

/** Slots whose time is over, or whose reason to wait is. */
function returning(
  { retryAfter }: Autoscale,
  slots: readonly SlotView[],
  { failures }: WakeHistory,
  cooled: number | undefined,
  now: number,
): { readonly due: readonly SlotView[]; readonly nextAt: number | undefined } {
  const all = slots.flatMap((slot) => {
    const { state, node } = slot;
    if (state !== 'Cooling' || node === undefined) return [];
    const after = (node.reasonSetAt ?? Number.NEGATIVE_INFINITY) + retryAfter;
    if (isCooled(node) || (hasFailed(node) && !isPoweringUp(node))) {
      // A worker has started since: machines come again.
      const isOver = failures === 0 && node.reason.startsWith(gaveUpReason);
      return [{ slot, at: isOver ? now : (cooled ?? after) }];
    }
    // Drained when this slot was not wanted: autoscale was off, or max was lower.
    if (node.base === 'IDLE') return isOurDrain(node) ? [{ slot, at: now }] : [];
    const isOurs = node.base === 'DOWN' && node.reason.startsWith(reasonPrefix);
    if (!isOurs || (node.flags.has('DRAIN') && !isOurDrain(node))) return [];
    return [{ slot, at: after }];
  });
  const later = all.filter(({ at }) => at > now).map(({ at }) => at);
  return {
    due: all.filter(({ at }) => at <= now).map(({ slot }) => slot),
    nextAt: later.length === 0 ? undefined : Math.min(...later),
  };
}

/** Their pods are gone and never ran; and those whose node was set down, and is yet to be powered down. */
function failedWakeUps(
  { gaveUp, slurm }: Observed,
  { retryAfter }: Autoscale,
  slots: readonly SlotView[],
  now: number,
): WorkerAction[] {
  const whys = new Map(
    slots.flatMap(({ state, slurmName, hasPod, node }) => {
      if (hasPod || node === undefined || !isPoweringUp(node)) return [];
      const why = state === 'Waking' ? gaveUp?.get(slurmName) : undefined;
      if (why !== undefined) return [[slurmName, why] as const];
      return hasFailed(node) && node.reason.startsWith(gaveUpReason)
        ? [[slurmName, node.reason.slice(gaveUpReason.length).replace(/^\S+: /, '')] as const]
        : [];
    }),
  );
  const [why] = whys.values();
  if (why === undefined) return [];
  const nextTry = timeText(now + retryAfter);
  const jobs = slurm.kind === 'known' ? (slurm.jobs ?? []) : [];
  return [
    {
      kind: 'fail-wake',
      slurmNames: [...whys.keys()],
      reason: `${gaveUpReason}${nextTry}: ${why}`,
      resumeAfterSeconds: Math.ceil(retryAfter / 1000),
      jobs: jobs.flatMap(({ id, nodes }) => {
        const own = nodes.map((name) => whys.get(name)).find((each) => each !== undefined);
        return own === undefined
          ? []
          : [{ id, adminComment: `${reasonPrefix}requeued: ${own}; next try ${nextTry}` }];
      }),
    },
  ];
}

function withdrawn(
  { wake }: Autoscale,
  asleep: readonly SlotView[],
  until: number | undefined,
  now: number,
): WorkerAction[] {
  const names = (some: readonly SlotView[]) => some.map(({ slurmName }) => slurmName);
  const free = asleep.filter(({ node }) => node !== undefined && !isHeldByManual(node));
  if (free.length === 0) return [];
  if (wake === 'Manual')
    return [
      {
        kind: 'hold-asleep',
        slurmNames: names(free),
        reason: `${manualReason}: wake it with scontrol update state=power_up`,
      },
    ];
  if (until === undefined) return [];
  return [
    {
      kind: 'hold-asleep',
      slurmNames: names(free),
      reason: `${gaveUpReason}${timeText(until)}: no machines for this NodeSet`,
      resumeAfterSeconds: Math.ceil((until - now) / 1000),
    },
  ];
}

const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
