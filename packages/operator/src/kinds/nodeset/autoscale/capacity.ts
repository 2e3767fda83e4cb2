/**
 * Which wake-ups are abandoned because no machine comes. Pure. Slurm allocates all nodes of a job at once, so a job whose last node does
 * not come holds machines for nothing: jobs are completed or abandoned as a whole, those of high priority first.
 */

import type { Autoscale, WakingJob } from '../model/autoscale.ts';
import type { Observed, Worker } from '../model/observed.ts';
import type { SlotView } from './slot-states.ts';
import { hasFailed } from './wake-history.ts';

export interface CapacityPlan {
  /** Workers that wait for a machine, and whose wake-up is abandoned → why. Their pods go first. */
  readonly abandoned: ReadonlyMap<Worker, string>;
  /** Slots whose pod waits for a machine: idle workers give theirs up at once. */
  readonly waiting: readonly SlotView[];
  /** When the next one has waited for too long. */
  readonly nextAt: number | undefined;
}

export const enoughCapacity: CapacityPlan = { abandoned: new Map(), waiting: [], nextAt: undefined };

/** The nodes of one job that wakes, or one node that was woken for no job. */
interface Group {
  readonly job: WakingJob | undefined;
  /** Its slots whose pod waits for a machine. */
  readonly waiting: readonly SlotView[];
  /** Its other slots of this NodeSet: they hold a machine. */
  readonly placed: number;
  readonly dueAt: number;
}

export function planCapacity(
  observed: Observed,
  autoscale: Autoscale,
  slots: readonly SlotView[],
  now: number,
): CapacityPlan {
  if (observed.slurm.kind === 'unknown') return enoughCapacity;
  const waiting = slots.filter(
    ({ state, worker }) => state === 'Waking' && worker && waitsForMachine(worker),
  );
  if (waiting.length === 0) return enoughCapacity;
  // What failed a moment ago may have freed machines for those that still wait.
  const failedAt = Math.max(
    ...slots.flatMap(({ node }) => (node && hasFailed(node) ? (node.reasonSetAt ?? []) : [])),
    Number.NEGATIVE_INFINITY,
  );
  const groups = groupsOf(
    waiting,
    slots,
    observed.slurm.jobs ?? [],
    (worker) => Math.max(worker.createdAt, Math.min(failedAt, now)) + autoscale.giveUpAfter,
  ).toSorted(byPriority);
  const lost = abandonedGroups(groups, now);
  const later = groups.filter((group) => !lost.has(group)).map(({ dueAt }) => dueAt);
  return {
    abandoned: new Map(
      [...lost].flatMap((group) =>
        group.waiting.flatMap(({ worker }) => (worker ? [[worker, whyOf(group, worker)] as const] : [])),
      ),
    ),
    waiting: waiting.filter(({ worker }) => worker?.problem?.kind === 'unschedulable'),
    nextAt: later.length === 0 ? undefined : Math.min(...later),
  };
}

/** No container of it ever ran: it has no machine, or the kubelet says that its image or a file does not come. */
export function waitsForMachine(worker: Worker): boolean {
  if (worker.terminating || worker.everStarted) return false;
  return worker.nodeName === undefined || (worker.cannotStart && worker.nodeReachable);
}

function groupsOf(
  waiting: readonly SlotView[],
  slots: readonly SlotView[],
  jobs: readonly WakingJob[],
  dueAt: (worker: Worker) => number,
): Group[] {
  const groups: Group[] = [];
  const left = new Set(waiting);
  const group = (job: WakingJob | undefined, own: readonly SlotView[], placed: number): Group => ({
    job,
    waiting: own,
    placed,
    dueAt: Math.min(...own.flatMap(({ worker }) => (worker ? dueAt(worker) : []))),
  });
  for (const job of jobs) {
    const names = new Set(job.nodes);
    const own = waiting.filter((slot) => names.has(slot.slurmName) && left.has(slot));
    if (own.length === 0) continue;
    for (const slot of own) left.delete(slot);
    const held = slots.filter((slot) => names.has(slot.slurmName) && slot.hasPod && !own.includes(slot));
    groups.push(group(job, own, held.length));
  }
  return [...groups, ...[...left].map((slot) => group(undefined, [slot], 0))];
}

const byPriority = (a: Group, b: Group): number =>
  (b.job?.priority ?? -1) - (a.job?.priority ?? -1) || Number(a.job?.id ?? 0) - Number(b.job?.id ?? 0);

/**
 * A group whose time is over is abandoned, unless the machines of groups of lower priority, which are not complete either, would
 * complete it: then these go, the lowest first, and it waits for their machines.
 */
function abandonedGroups(groups: readonly Group[], now: number): ReadonlySet<Group> {
  const lost = new Set<Group>();
  for (const [index, group] of groups.entries()) {
    if (lost.has(group) || group.dueAt > now) continue;
    const lower = groups.slice(index + 1).filter((other) => !lost.has(other) && other.placed > 0);
    if (lower.reduce((sum, { placed }) => sum + placed, 0) < group.waiting.length) {
      lost.add(group);
      continue;
    }
    let freed = 0;
    for (const other of lower.toReversed()) {
      if (freed >= group.waiting.length) break;
      lost.add(other);
      freed += other.placed;
    }
  }
  return lost;
}

function whyOf({ job, waiting, placed }: Group, worker: Worker): string {
  const words = worker.problem?.message ?? 'its pod is not scheduled';
  const share = job === undefined ? '' : `${placed} of ${placed + waiting.length} nodes: `;
  return `${share}${words}`;
}
