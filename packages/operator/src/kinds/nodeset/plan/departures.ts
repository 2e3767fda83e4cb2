/** Whether a worker that is to be removed may be deleted now. */
import { safeToGiveUp, safeToStop } from '../autoscale/safe-to-stop.ts';
import { isAwaited, isWakingUp } from '../autoscale/slot-states.ts';
import type { SafeBecause, Safety, WhyGone, WorkerAction } from '../model/actions.ts';
import { type Observed, slotKey, slurmNameOf, type Worker } from '../model/observed.ts';
import { statePrefix } from './mirror-state.ts';
import { safeToDelete } from './safe-to-delete.ts';

export interface Departure {
  readonly deletion: WorkerAction | undefined;
  readonly withheld: readonly string[];
  readonly blind: boolean;
  readonly until: number | undefined;
}

export interface DepartureContext {
  readonly current: Observed;
  /** Another worker is behind the Slurm node of its name. */
  readonly isStale: boolean;
  /** Autoscale: workers whose wake-up is abandoned → why. */
  readonly abandoned: ReadonlyMap<Worker, string>;
  /** Slots with a claim that is yet to be marked. */
  readonly unmarked: ReadonlySet<string>;
  readonly now: number;
}

export const staying: Departure = { deletion: undefined, withheld: [], blind: false, until: undefined };

export function departureOf(worker: Worker, why: WhyGone, context: DepartureContext): Departure {
  if (worker.terminating) return staying;
  const safety = safetyOf(worker, why, context);
  const { name, uid, slurmName, resourceVersion } = worker;
  if (!safety.safe)
    return {
      ...staying,
      withheld: [`${name} stays: ${safety.why}`],
      blind: safety.blind,
      until: safety.until,
    };
  if (why === 'scale-in' && context.unmarked.has(slotKey(worker.slot)))
    return { ...staying, withheld: [`${name} stays until its claims are marked`] };
  const { because } = safety;
  const gaveUp = why === 'no-machine' ? context.abandoned.get(worker) : undefined;
  const precondition = reliesOnThePod.has(because) ? { resourceVersion } : {};
  return {
    ...staying,
    deletion: {
      kind: 'delete-worker',
      name,
      uid,
      slurmName,
      because,
      why,
      ...(gaveUp === undefined ? {} : { gaveUp }),
      ...precondition,
    },
  };
}

function safetyOf(worker: Worker, why: WhyGone, { current, isStale, now }: DepartureContext): Safety {
  if (why === 'no-machine') return safeToGiveUp(worker, current);
  if (why === 'sleep' || why === 'slow-wake') return safeToStop(worker, why, current);
  if (leavesNoSuccessor(worker, why, current) && keepsWaiting(worker, current))
    return awaited(worker, current);
  return isStale ? { safe: true, because: 'stale-worker' } : safeToDelete(worker, current, now);
}

/** The place of such a worker is not filled again, or by one that is another node in Slurm. */
const leavesNoSuccessor = (worker: Worker, why: WhyGone, current: Observed): boolean =>
  isLeftEmpty.has(why) || slurmNameOf(worker.slot, current) !== worker.slurmName;
const isLeftEmpty = new Set<WhyGone>(['scale-in', 'deletion', 'wrong-mode']);

/** A job waits until this worker has registered: without it, it would wait until Slurm gives up, and be requeued or lost. */
function keepsWaiting(worker: Worker, current: Observed): boolean {
  const isEnded = current.deleting && (current.deletionPolicy === 'Delete' || !current.controllerExists);
  if (worker.everStarted || isEnded) return false;
  if (current.slurm.kind === 'unknown') return worker.forWakeUp || wasAwaited(worker);
  const node = current.slurm.nodes.get(worker.slurmName);
  return isWakingUp(worker, current) && node !== undefined && isAwaited(node);
}

/** What Slurm last said of its node, as the pod shows it: an operator that started in the outage knows nothing else. */
const wasAwaited = ({ slurmConditions }: Worker): boolean =>
  ['Allocated', 'Mixed'].some((base) => slurmConditions.has(`${statePrefix}${base}`));

function awaited({ slurmName }: Worker, { slurm }: Observed): Safety {
  if (slurm.kind === 'unknown')
    return {
      safe: false,
      blind: true,
      why: `a job may wait until ${slurmName} has started, and Slurm does not respond: ${slurm.why}`,
    };
  return {
    safe: false,
    blind: false,
    why: `a job in Slurm waits until ${slurmName} has started (see squeue --nodelist=${slurmName}); cancel the job if it is not needed`,
  };
}

/** These hold only if nothing has happened to the pod since it was observed: its node, its start. */
const reliesOnThePod = new Set<SafeBecause>(['never-started', 'unknown-to-slurm', 'stale-worker']);
