/**
 * The decision about the workers of a NodeSet: what is observed, and the time, in; actions and a summary out.
 * No I/O, no clock, nothing remembered. The laws it keeps (L1 … L11) are property tests beside it.
 */
import type { Waiting } from '@slurm-operator/slurm';
import { type AutoscaleSummary, planPower } from '../autoscale/power.ts';
import { isWakingUp } from '../autoscale/slot-states.ts';
import type { WorkerAction } from '../model/actions.ts';
import { isAvailable, isOutOfReach } from '../model/availability.ts';
import type { KeptRecord } from '../model/kept-records.ts';
import { isOwn } from '../model/node-state.ts';
import type { Observed, SlotPod, Worker } from '../model/observed.ts';
import { listAgain, slurmIsBehindUs, waitingFor } from './awaits-slurm.ts';
import { claimActions, unmarkedSlots } from './claims.ts';
import { planCreations } from './creations.ts';
import { departureOf, staying } from './departures.ts';
import { type DrainStep, drainActions } from './drain-actions.ts';
import { conditionDueAt, drainTarget } from './drain-target.ts';
import { cordonNote, podFacts, slurmFacts } from './facts.ts';
import { isSafeByCondition, mirrorState } from './mirror-state.ts';
import { type RecordPlan, recordActions } from './records.ts';
import { chooseRemovals, type Removals } from './removals.ts';
import { planSlots } from './slots.ts';
import { staleWorkersOf } from './stale-workers.ts';

export interface WorkerPlan {
  /** In the order they should begin; `act` runs independent ones at once. */
  readonly actions: readonly WorkerAction[];
  readonly desired: number;
  /** Decisions not taken, each with why: Slurm was unknown, a budget was used up, a claim is being deleted. */
  readonly withheld: readonly string[];
  /** Names in Slurm that this NodeSet wants or has, and that belong to another one. */
  readonly nameConflicts: readonly string[];
  /** How many of the withheld ones because the state of Slurm is unknown. */
  readonly blind: number;
  /** Some workers that should be registered are unknown to Slurm. */
  readonly hasUnregistered: boolean;
  readonly toRemove: readonly Worker[];
  /** Something waits for Slurm to change: ask it often. `jobs`: only for jobs to end. */
  readonly waitsForSlurm: Waiting;
  /** When time alone may change the decision. */
  readonly wakeAt: number | undefined;
  readonly autoscale?: AutoscaleSummary | undefined;
  /** Slurm records without a worker that pending jobs need. */
  readonly keptRecords: readonly KeptRecord[];
}

export function planWorkers(observed: Observed, now: number): WorkerPlan {
  // 1. Nothing is created before the finalizer exists: deletion must find it (law L6).
  if (!observed.deleting && !observed.hasFinalizer)
    return { ...idle, desired: observed.replicas, actions: [{ kind: 'add-finalizer' }] };

  // 2. Which workers have a place, and which must be removed.
  const current = withCurrentDeadlines(observed, now);
  const slots = planSlots(current, now);
  const removals = chooseRemovals(current, slots, now);

  // 3. Bring each worker to where it should be: cordon, drain, facts; and delete those that may be deleted.
  const workers = planEach(current, removals, slots.capacity.abandoned, now);

  // 4. Autoscale: create records, wake sleeping slots, send idle workers to sleep.
  const power = planPower(current, slots, now);

  // 5. Slurm records of workers that are gone, or of predecessors with another configuration.
  const waitedFor = current.deleting
    ? current.workers.filter((worker) => !isOutOfReach(worker, now))
    : current.workers;
  const records = recordActions({ ...current, workers: waitedFor }, slots);

  // 6. Fill the vacant slots; at the very end of a deletion the NodeSet itself is released.
  const outdated = new Set([
    ...records.actions.flatMap((action) => ('slurmName' in action ? action.slurmName : [])),
    ...records.kept.flatMap(({ name, slotWaits }) => (slotWaits === true ? name : [])),
  ]);
  const creations = planCreations(current, slots.vacant, outdated, now);
  const finished = slots.vacant.length === 0 && isFinished(current, waitedFor, records);

  const wakes = [
    removals.wakeAt,
    ...workers.wakes,
    power.wakeAt,
    ...creations.wakes,
    ...(current.deleting ? waitedFor.map((worker) => worker.endsBy) : []),
    ...(slurmIsBehindUs(current) ? [now + listAgain] : []),
    ...(records.kept.length === 0 ? [] : [now + askAgain]),
    ...(current.requeueable === undefined || current.requeueable.size === 0 ? [] : [now + listAgain]),
  ];
  return {
    actions: [
      ...ownershipActions(current),
      ...claimActions(current, slots),
      ...workers.patches,
      ...workers.drains,
      ...workers.deletions,
      ...power.actions,
      ...forbidRequeue(current),
      ...creations.actions,
      ...records.actions,
      ...(finished && current.hasFinalizer ? [{ kind: 'remove-finalizer' } as const] : []),
    ],
    desired: slots.desired,
    withheld: [...removals.withheld, ...workers.withheld, ...power.withheld, ...creations.withheld],
    nameConflicts: creations.nameConflicts,
    blind: workers.blind,
    hasUnregistered: removals.hasUnregistered,
    toRemove: [...removals.workers.keys()],
    waitsForSlurm: waitingFor(current, removals.workers, records.awaited > 0 || power.awaitsSlurm, now),
    wakeAt: earliestAfter(now, wakes),
    autoscale: power.summary,
    keptRecords: records.kept,
  };
}

/** Whether pending jobs still need a record. */
const askAgain = 10_000;

const idle: WorkerPlan = {
  actions: [],
  desired: 0,
  withheld: [],
  nameConflicts: [],
  blind: 0,
  hasUnregistered: false,
  toRemove: [],
  waitsForSlurm: false,
  wakeAt: undefined,
  keptRecords: [],
};

function planEach(
  current: Observed,
  removals: Removals,
  abandoned: ReadonlyMap<Worker, string>,
  now: number,
) {
  const patches: WorkerAction[] = [];
  const drains: WorkerAction[] = [];
  const deletions: WorkerAction[] = [];
  const withheld: string[] = [];
  const wakes: (number | undefined)[] = [];
  let blind = 0;
  const unmarked = unmarkedSlots(current);
  const staleWorkers = staleWorkersOf(current);
  // Where two have one name, the one that stays waits until the other is gone: else each would undo what is done for the other.
  const leavingNames = new Set(
    [...removals.workers.keys()].flatMap((worker) =>
      worker.terminating || staleWorkers.has(worker) ? [] : worker.slurmName,
    ),
  );
  for (const worker of current.workers) {
    const why = removals.workers.get(worker);
    const target = drainTarget(worker, why, current, now);
    wakes.push(conditionDueAt(worker, current, now));
    const isOfOther = staleWorkers.has(worker) || (why === undefined && leavingNames.has(worker.slurmName));
    // While Slurm powers it up or down, a drain would requeue the job that waits for it, or be lost.
    const isPowering = why === 'sleep' || isWakingUp(worker, current);
    const wanted = isOfOther || isPowering ? untouched : drainActions(worker, target, current);
    // A program that relies on SafeToDelete sees that it is over before jobs may start.
    const endsDrain = wanted.actions.some(({ kind }) => kind === 'undrain');
    const step = endsDrain && isSafeByCondition(worker) ? untouched : wanted;
    drains.push(...step.actions);
    const noted =
      why === undefined && step.actions.length === 0 ? slurmFacts(worker, current, now) : nothingNoted;
    drains.push(...noted.actions);
    wakes.push(noted.wakeAt);
    if (noted.actions.length === 0 && !isOfOther && !isPowering)
      drains.push(...cordonNote(worker, why, current));
    if (step.withheld !== undefined) {
      withheld.push(step.withheld);
      blind += 1;
    }
    const departure =
      why === undefined
        ? staying
        : departureOf(worker, why, { current, abandoned, isStale: staleWorkers.has(worker), unmarked, now });
    withheld.push(...departure.withheld);
    if (departure.blind) blind += 1;
    wakes.push(departure.until);
    if (departure.deletion !== undefined) deletions.push(departure.deletion);
    else {
      // A pod that is deleted now is not patched: a delete that is bound to the observed version must not meet our own patch.
      const facts = podFacts(worker, target, current, now);
      const mirrored = mirrorState(worker, current, { staysDrained: target.drain, now });
      patches.push(...facts.actions, ...mirrored.actions);
      wakes.push(facts.wakeAt, mirrored.wakeAt);
    }
    if (!isAvailable(worker, current, now) && worker.readySince !== undefined)
      wakes.push(worker.readySince + current.minReadySeconds * 1000);
  }
  return { patches, drains, deletions, withheld, wakes, blind };
}

const nothingNoted = { actions: [], wakeAt: undefined };
const untouched: DrainStep = { actions: [], withheld: undefined };

/** Also where autoscale was switched off since. */
function forbidRequeue({ requeueable, slurm }: Observed): WorkerAction[] {
  if (requeueable === undefined || requeueable.size === 0 || slurm.kind === 'unknown') return [];
  return [{ kind: 'forbid-requeue', jobs: [...requeueable] }];
}

/** A NodeSet that is being deleted adopts nothing. */
function ownershipActions({ orphans, released, deleting }: Observed): WorkerAction[] {
  const change =
    (kind: 'adopt-worker' | 'release-worker') =>
    ({ name, uid }: SlotPod): WorkerAction => ({ kind, name, uid });
  return [
    ...(deleting ? [] : orphans.map(change('adopt-worker'))),
    ...released.map(change('release-worker')),
  ];
}

/** Whether the NodeSet itself may go. */
function isFinished(current: Observed, waitedFor: readonly Worker[], records: RecordPlan): boolean {
  return (
    current.deleting &&
    waitedFor.length === 0 &&
    // Released pods that still have their owner would be collected with the NodeSet, and the work in them with them.
    current.released.length === 0 &&
    recordsAreGone(current, records.left) &&
    // Nothing else would forbid it again.
    (current.slurm.kind === 'unknown' || (current.requeueable?.size ?? 0) === 0) &&
    // The Controller removes its lines from slurm.conf when no job needs them any more; until then it shows which ones do.
    current.configLines.state !== 'present'
  );
}

function recordsAreGone(observed: Observed, left: number): boolean {
  // Nothing else would ever delete them. A Slurm that was removed has no Controller any more (L16).
  if (observed.slurm.kind === 'unknown') return !observed.controllerExists;
  return left === 0;
}

function earliestAfter(now: number, times: readonly (number | undefined)[]): number | undefined {
  let earliest: number | undefined;
  for (const at of times)
    if (at !== undefined && at > now && (earliest === undefined || at < earliest)) earliest = at;
  return earliest;
}

/** Until when each worker has work, by Slurm's newest answer: it is newer than what was last written on the pod. */
export function withCurrentDeadlines(observed: Observed, now: number): Observed {
  const { slurm } = observed;
  if (slurm.kind === 'unknown') return observed;
  const workers = observed.workers.map((worker) => {
    const node = slurm.nodes.get(worker.slurmName);
    if (node === undefined ? (worker.writtenDeadline ?? 0) > now : !isOwn(node, worker)) return worker;
    if (node !== undefined && node.deadline === undefined && slurm.jobsUnknown !== undefined) return worker;
    const deadline = node?.deadline === 'unknown' ? undated(worker) : node?.deadline;
    return deadline === worker.deadline ? worker : { ...worker, deadline };
  });
  return { ...observed, workers };
}

/**
 * Jobs and nodes are listed separately: for a moment the job has ended in one list and still holds its node in the other. The deadline
 * that was last written on the pod bridges that moment, so that no other worker is chosen because of it. Without one the work is new
 * and may have no limit: its node is chosen last.
 */
function undated(worker: Worker): number {
  return worker.writtenDeadline ?? Number.POSITIVE_INFINITY;
}
