/**
 * How wake-ups ended. Pure. The evidence is in Slurm: a node whose wake-up failed is down, with the reason and the time of it, and a
 * worker that started after that has registered.
 */
import { reasonPrefix } from '@slurm-operator/api';
import type { Autoscale, WakeHistory } from '../model/autoscale.ts';
import { noFailures } from '../model/autoscale.ts';
import type { SlurmNode } from '../model/observed.ts';
import type { SlotView } from './slot-states.ts';

/** What slurmctld writes on a node that did not come up in time. */
const slurmGaveUp = /^ResumeTimeout reached/;

/** Begins the reason of a node whose wake-up the operator gave up, and of sleeping nodes that are not offered for that. */
export const gaveUpReason = `${reasonPrefix}no wake-up before `;

/** Begins the reason of sleeping nodes that only a person wakes. */
export const manualReason = `${reasonPrefix}autoscale.wake is Manual`;

/**
 * In protected mode sleeping slots are offered this often. All of them, because a job of several nodes could not try fewer; the first
 * failure withdraws them again.
 */
export const halfOpenAfter = 30 * 60_000;

/** The wake-up of this node failed: Slurm set it down, or we did. */
export function hasFailed({ base, reason }: Pick<SlurmNode, 'base' | 'reason'>): boolean {
  return base === 'DOWN' && (slurmGaveUp.test(reason) || reason.startsWith(gaveUpReason));
}

/** Asleep, and not offered because the wake-up of another node failed. */
export function isCooled({ base, flags, reason }: Pick<SlurmNode, 'base' | 'flags' | 'reason'>): boolean {
  return base !== 'DOWN' && flags.has('DRAIN') && reason.startsWith(gaveUpReason);
}

/** The nodes of one failed wake-up get their reason in the same second: they count once. */
export function wakeHistory(
  { history, protectAfter }: Autoscale,
  slots: readonly SlotView[],
  now: number,
): WakeHistory {
  const before = history.lastFailureAt ?? Number.NEGATIVE_INFINITY;
  const times = new Set(
    slots.flatMap(({ node }) => (node !== undefined && hasFailed(node) ? (node.reasonSetAt ?? []) : [])),
  );
  const newer = [...times].filter((at) => at > before);
  const lastFailureAt = newer.length === 0 ? history.lastFailureAt : Math.max(...newer);
  const started = slots.some(
    ({ state, node }) =>
      state === 'Awake' && node?.base !== 'DOWN' && (node?.slurmdStartedAt ?? 0) > (lastFailureAt ?? 0),
  );
  if (lastFailureAt === undefined || started) return { ...noFailures, lastFailureAt };
  const failures = history.failures + newer.length;
  const isProtected = failures >= protectAfter;
  return {
    failures,
    lastFailureAt,
    protectedSince: isProtected ? (history.protectedSince ?? now) : undefined,
  };
}
