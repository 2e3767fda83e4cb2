/** How long wake-ups take, stage by stage, and how they end. What is timed is when the operator saw it: clocks of machines may differ. */

import { isPoweringUp, type SlotView } from './slot-states.ts';
import { hasFailed } from './wake-history.ts';

/** Each begins where the one before ended; `total` is their sum. */
export const wakeStages = ['pod_created', 'pod_scheduled', 'slurmd_started', 'registered', 'total'] as const;
export type WakeStage = (typeof wakeStages)[number];

/** `withdrawn`: nothing needs the node any more (the job was cancelled), so it went back to sleep. */
export type WakeResult = 'started' | 'failed' | 'withdrawn';

export interface WakeUpEnd {
  readonly slurmName: string;
  readonly result: WakeResult;
  /** Of wake-ups that started a worker, in seconds; empty where the operator did not see the beginning. */
  readonly seconds: Partial<Record<WakeStage, number>>;
}

interface WakeUp {
  readonly since: number;
  /** The operator saw the beginning. */
  readonly whole: boolean;
  created?: number;
  scheduled?: number;
  started?: number;
}

/** Of one NodeSet. An operator that restarts counts the ends of the wake-ups under way, and does not time them. */
export class WakeTimes {
  readonly #wakeUps = new Map<string, WakeUp>();
  #sawOnce = false;

  follow(slots: readonly SlotView[], now: number): WakeUpEnd[] {
    const ends = slots.flatMap((slot) => this.#followSlot(slot, now) ?? []);
    this.#sawOnce = true;
    return ends;
  }

  #followSlot(slot: SlotView, now: number): WakeUpEnd | undefined {
    const { slurmName, state, node, worker } = slot;
    const wakeUp = this.#wakeUps.get(slurmName);
    if (state === 'Unknown') return undefined;
    if (state === 'Waking' && (wakeUp !== undefined || !(node && hasFailed(node)))) {
      const current = wakeUp ?? { since: now, whole: this.#sawOnce && !slot.hasPod };
      this.#wakeUps.set(slurmName, current);
      if (slot.hasPod) current.created ??= now;
      if (worker?.nodeName !== undefined) current.scheduled ??= now;
      if (worker?.everStarted) current.started ??= now;
      if (node === undefined || !hasFailed(node)) return undefined;
    }
    if (wakeUp === undefined) return undefined;
    this.#wakeUps.delete(slurmName);
    if (node !== undefined && hasFailed(node)) return { slurmName, result: 'failed', seconds: {} };
    if (state !== 'Awake' || node === undefined || isPoweringUp(node))
      return { slurmName, result: 'withdrawn', seconds: {} };
    return { slurmName, result: 'started', seconds: secondsOf(wakeUp, now) };
  }
}

/** A stage whose end was not seen apart from the next one took no time that could be told. */
function secondsOf({ since, whole, ...seen }: WakeUp, now: number): WakeUpEnd['seconds'] {
  if (!whole) return {};
  const started = seen.started ?? now;
  const scheduled = seen.scheduled ?? started;
  const created = seen.created ?? scheduled;
  return {
    pod_created: (created - since) / 1000,
    pod_scheduled: (scheduled - created) / 1000,
    slurmd_started: (started - scheduled) / 1000,
    registered: (now - started) / 1000,
    total: (now - since) / 1000,
  };
}
