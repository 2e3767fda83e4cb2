/** Whether a worker that is to be removed may be deleted now. */
import { safeToGiveUp, safeToStop } from '../autoscale/safe-to-stop.ts';
import { isAwaited, isWakingUp } from '../autoscale/slot-states.ts';
import type { SafeBecause, Safety, WhyGone, WorkerAction } from '../model/actions.ts';
import { type Observed, slotKey, slurmNameOf, type Worker } from '../model/observed.ts';
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
  const awaited = leavesNoSuccessor(worker, why, current) ? awaitedBy(worker, current) : undefined;
  if (awaited !== undefined) return awaited;
  return isStale ? { safe: true, because: 'stale-worker' } : safeToDelete(worker, current, now);
}

/** The place of such a worker is not filled again, or by one that is another node in Slurm. */
const leavesNoSuccessor = (worker: Worker, why: WhyGone, current: Observed): boolean =>
  isLeftEmpty.has(why) || slurmNameOf(worker.slot, current) !== worker.slurmName;
const isLeftEmpty = new Set<WhyGone>(['scale-in', 'deletion', 'wrong-mode']);

/** A job waits until this worker has registered: without it, it would wait until Slurm gives up, and be requeued or lost. */
function awaitedBy(worker: Worker, current: Observed): Safety | undefined {
  const { slurm, deleting, deletionPolicy, controllerExists } = current;
  const isEnded = deleting && (deletionPolicy === 'Delete' || !controllerExists);
  if (worker.everStarted || isEnded) return undefined;
  if (slurm.kind === 'unknown') return worker.forWakeUp ? mayBeAwaited(worker, slurm.why) : undefined;
  const node = slurm.nodes.get(worker.slurmName);
  return node !== undefined && isWakingUp(worker, current) && isAwaited(node) ? awaited(worker) : undefined;
}

const mayBeAwaited = ({ slurmName }: Worker, why: string): Safety => ({
  safe: false,
  blind: true,
  why: `a job may wait until ${slurmName} has started, and Slurm's view of it is unknown: ${why}`,
});

const awaited = ({ slurmName }: Worker): Safety => ({
  safe: false,
  blind: false,
  why: `a job in Slurm waits until ${slurmName} has started (see squeue --nodelist=${slurmName}); cancel the job if it is not needed`,
});

/** These hold only if nothing has happened to the pod since it was observed: its node, its start. */
const reliesOnThePod = new Set<SafeBecause>(['never-started', 'unknown-to-slurm', 'stale-worker']);
