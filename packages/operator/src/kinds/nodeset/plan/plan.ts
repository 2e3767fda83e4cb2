/**
 * The decision about a NodeSet: what is observed, and the time, in; actions and a summary out.
 * No I/O, no clock, nothing remembered. The laws it keeps (L1 … L11) are property tests beside it.
 */
import type { Action, SafeBecause, WhyGone } from './actions.ts';
import { isAvailable, isOutOfReach } from './availability.ts';
import { bystandersOf } from './bystanders.ts';
import { claimActions, unmarkedSlots } from './claims.ts';
import { condemn } from './condemned.ts';
import { type DrainStep, drainActions } from './drain-actions.ts';
import { drainTarget } from './drain-target.ts';
import { podFacts, slurmFacts } from './facts.ts';
import { keptRevision, olderRevisionFor } from './kept-revision.ts';
import { mirrorState } from './mirror-state.ts';
import { askAbout, isOurDrain, isOwn } from './node-state.ts';
import {
  type Claim,
  type Observed,
  type Slot,
  type Stranger,
  slotKey,
  slurmNameOf,
  type Worker,
} from './observed.ts';
import { recordActions } from './records.ts';
import { type Safety, safeToDelete } from './safe-to-delete.ts';
import { planSlots } from './slots.ts';

export interface Plan {
  /** In the order they should begin; `act` runs independent ones at once. */
  readonly actions: readonly Action[];
  readonly desired: number;
  /** Decisions not taken, each with why: Slurm was unknown, a budget was used up, a claim is on its way out. */
  readonly withheld: readonly string[];
  /** Names in Slurm that this NodeSet wants or has, and that belong to another one. */
  readonly nameConflicts: readonly string[];
  /** How many of them because the state of Slurm is unknown. */
  readonly blind: number;
  /** Some workers that should be registered are unknown to Slurm. */
  readonly hasUnregistered: boolean;
  /** Workers that are on their way out. */
  readonly condemned: readonly Worker[];
  /** Something waits for Slurm to change: ask it often. */
  readonly waitsForSlurm: boolean;
  /** When time alone may change the decision. */
  readonly wakeAt: number | undefined;
}

export function plan(observed: Observed, now: number): Plan {
  // 1. Nothing is made before the finalizer is there: deletion must find it (law L6).
  if (!observed.deleting && !observed.hasFinalizer)
    return { ...idle, desired: observed.replicas, actions: [{ kind: 'add-finalizer' }] };

  // 2. Who has a place, and who must go.
  const current = withCurrentDeadlines(observed, now);
  const slots = planSlots(current, now);
  const condemned = condemn(current, slots, now);
  const withheld = [...condemned.withheld];
  let blind = 0;
  const wakes = [condemned.wakeAt];

  // 3. Bring each worker to where it should be: cordon, drain, facts; and delete whoever may go.
  const patches: Action[] = [];
  const drains: Action[] = [];
  const deletions: Action[] = [];
  const unmarked = unmarkedSlots(current);
  const bystanders = bystandersOf(current);
  // Where two have one name, whoever stays waits until the other is gone: else each would undo what is done for the other.
  const leavingNames = new Set(
    [...condemned.workers.keys()].flatMap((worker) =>
      worker.terminating || bystanders.has(worker) ? [] : worker.slurmName,
    ),
  );
  for (const worker of current.workers) {
    const why = condemned.workers.get(worker);
    const target = drainTarget(worker, why, current);
    const isTheirs = bystanders.has(worker) || (why === undefined && leavingNames.has(worker.slurmName));
    const step = isTheirs ? untouched : drainActions(worker, target, current);
    drains.push(...step.actions);
    if (why === undefined && step.actions.length === 0) {
      const noted = slurmFacts(worker, current, now);
      drains.push(...noted.actions);
      wakes.push(noted.wakeAt);
    }
    if (step.withheld !== undefined) {
      withheld.push(step.withheld);
      blind += 1;
    }
    const departure =
      why === undefined
        ? staying
        : departureOf(worker, why, safetyOf(worker, bystanders, current, now), unmarked);
    withheld.push(...departure.withheld);
    if (departure.blind) blind += 1;
    wakes.push(departure.until);
    if (departure.deletion !== undefined) deletions.push(departure.deletion);
    else {
      // Nothing is noted on a pod that goes now; and a delete that means the pod as it was seen must not meet our own note.
      const facts = podFacts(worker, target, current, now);
      patches.push(...facts.actions, ...mirrorState(worker, current));
      wakes.push(facts.wakeAt);
    }
    if (!isAvailable(worker, current, now) && worker.readySince !== undefined)
      wakes.push(worker.readySince + current.minReadySeconds * 1000);
  }

  // 4. Fill the vacant slots.
  const creations: Action[] = [];
  const kept = keptRevision(current);
  const leaving = new Map(
    current.claims.filter((claim) => claim.terminating).map((claim) => [slotKey(claim.slot), claim]),
  );
  for (const slot of slots.vacant) {
    const obstacle = nameObstacle(slot, current) ?? obstacleTo(slotKey(slot), current, leaving, now);
    if (obstacle === undefined) {
      const revision = olderRevisionFor(slot, current, kept);
      creations.push({ kind: 'create-worker', slot, ...(revision === undefined ? {} : { revision }) });
    } else {
      withheld.push(obstacle.why);
      wakes.push(obstacle.until);
    }
  }

  // 5. Claims and Slurm records of what is gone; at the very end the NodeSet itself.
  const waitedFor = current.deleting
    ? current.workers.filter((worker) => !isOutOfReach(worker, now))
    : current.workers;
  if (current.deleting) wakes.push(...waitedFor.map((worker) => worker.endsBy));
  const records = recordActions({ ...current, workers: waitedFor }, slots);
  // Released pods that still have their owner would be collected with the NodeSet, and the work in them with them.
  const nobodyLeft = waitedFor.length === 0 && current.released.length === 0;
  // The Controller removes its lines from slurm.conf when no job needs them any more; until then it shows which ones do.
  const finished =
    current.deleting &&
    nobodyLeft &&
    recordsAreGone(current, records.left) &&
    current.configLines.state !== 'present';
  const finalizer: Action[] = finished && current.hasFinalizer ? [{ kind: 'remove-finalizer' }] : [];

  const actions = [
    ...belonging(current),
    ...claimActions(current, slots),
    ...patches,
    ...drains,
    ...deletions,
    ...creations,
    ...records.actions,
    ...finalizer,
  ];
  if (slurmIsBehindUs(current)) wakes.push(now + listAgain);
  const future = wakes.filter((at) => at !== undefined && at > now) as number[];
  return {
    actions,
    desired: slots.desired,
    withheld,
    nameConflicts: nameConflicts(current, slots.vacant),
    blind,
    hasUnregistered: condemned.hasUnregistered,
    condemned: [...condemned.workers.keys()],
    waitsForSlurm:
      condemned.workers.size > 0 || records.awaited > 0 || awaitsNews(current, condemned.workers),
    wakeAt: future.length === 0 ? undefined : Math.min(...future),
  };
}

const idle: Plan = {
  actions: [],
  desired: 0,
  withheld: [],
  nameConflicts: [],
  blind: 0,
  hasUnregistered: false,
  condemned: [],
  waitsForSlurm: false,
  wakeAt: undefined,
};

interface Departure {
  readonly deletion: Action | undefined;
  readonly withheld: readonly string[];
  readonly blind: boolean;
  readonly until: number | undefined;
}

const untouched: DrainStep = { actions: [], withheld: undefined };
const staying: Departure = { deletion: undefined, withheld: [], blind: false, until: undefined };

/** Whether a worker that must go may go now. */
function departureOf(worker: Worker, why: WhyGone, safety: Safety, unmarked: ReadonlySet<string>): Departure {
  if (worker.terminating) return staying;
  const { name, uid, slurmName, resourceVersion } = worker;
  if (!safety.safe)
    return {
      ...staying,
      withheld: [`${name} stays: ${safety.why}`],
      blind: safety.blind,
      until: safety.until,
    };
  if (why === 'scale-in' && unmarked.has(slotKey(worker.slot)))
    return { ...staying, withheld: [`${name} stays until its claims are marked`] };
  const { because } = safety;
  // Of these it matters that nothing has happened to the pod since it was seen: its machine, its start.
  const precondition = reliesOnThePod.has(because) ? { resourceVersion } : {};
  return {
    ...staying,
    deletion: { kind: 'delete-worker', name, uid, slurmName, because, why, ...precondition },
  };
}

const reliesOnThePod = new Set<SafeBecause>(['never-started', 'unknown-to-slurm', 'stale-worker']);

function safetyOf(worker: Worker, bystanders: ReadonlySet<Worker>, observed: Observed, now: number): Safety {
  return bystanders.has(worker)
    ? { safe: true, because: 'stale-worker' }
    : safeToDelete(worker, observed, now);
}

/** Slurm's own word on how long work lasts is newer than what was last written on the pod. */
function withCurrentDeadlines(observed: Observed, now: number): Observed {
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
 * Jobs and nodes are listed apart: for a moment the job has ended in one list and still holds its node in the other. What was
 * written last on the pod bridges that moment, so that nobody else is chosen to go because of it. Where nothing was written the
 * work is new and may last for ever: its node goes last.
 */
function undated(worker: Worker): number {
  return worker.writtenDeadline ?? Number.POSITIVE_INFINITY;
}

/** Nobody is adopted by a NodeSet that is on its way out. */
function belonging({ orphans, released, deleting }: Observed): Action[] {
  const change =
    (kind: 'adopt-worker' | 'release-worker') =>
    (pod: Stranger): Action => ({
      kind,
      name: pod.name,
      uid: pod.uid,
    });
  return [
    ...(deleting ? [] : orphans.map(change('adopt-worker'))),
    ...released.map(change('release-worker')),
  ];
}

function nameConflicts(observed: Observed, vacant: readonly Slot[]): string[] {
  if (observed.takenNames.size === 0) return [];
  const names = [
    ...observed.workers.map((worker) => worker.slurmName),
    ...vacant.map((slot) => slurmNameOf(slot, observed) ?? ''),
  ];
  return names.filter((name) => observed.takenNames.has(name));
}

/** Two slurmd of one name would take each other's node. */
function nameObstacle(slot: Slot, observed: Observed): { why: string; until: undefined } | undefined {
  const name = slurmNameOf(slot, observed) ?? '';
  const owner = observed.takenNames.get(name);
  if (owner === undefined) return undefined;
  return { why: `${name} is not created: NodeSet ${owner} has this name in Slurm`, until: undefined };
}

function obstacleTo(
  slot: string,
  { backoff }: Observed,
  leaving: ReadonlyMap<string, Claim>,
  now: number,
): { why: string; until: number | undefined } | undefined {
  const until = backoff.get(slot);
  if (until !== undefined && until > now)
    return { why: `${slot} is not created yet: its last pods failed`, until };
  const claim = leaving.get(slot);
  if (claim !== undefined)
    return { why: `${slot} is not created yet: its claim ${claim.name} is being deleted`, until: undefined };
  return undefined;
}

function recordsAreGone(observed: Observed, left: number): boolean {
  if (!observed.controllerExists || observed.deletionPolicy === 'Delete')
    return observed.slurm.kind === 'unknown' || left === 0;
  return observed.slurm.kind === 'known' && left === 0;
}

/** While somebody waits Slurm is listed about this often. */
const listAgain = 1_000;

/**
 * The list that showed what our last change did may have begun a moment before the change was answered, and the next one brings
 * no news that would wake us.
 */
function slurmIsBehindUs({ slurm, lastWrites }: Observed): boolean {
  return slurm.kind === 'known' && lastWrites.values().some((at) => at >= slurm.at);
}

/** Something about a worker is still to be heard from Slurm: that a change of ours took effect, that it joined, that it may be undrained. */
function awaitsNews(observed: Observed, condemned: ReadonlyMap<Worker, WhyGone>): boolean {
  return observed.workers.some((worker) => {
    const answer = askAbout(worker, observed);
    switch (answer.kind) {
      case 'unknown':
        return true;
      case 'absent':
        return worker.ready;
      case 'foreign':
        return false; // a person has to decide
      case 'present':
        // A drain that is to stay brings no news.
        return isOurDrain(answer.node) && !drainTarget(worker, condemned.get(worker), observed).drain;
      default:
        return answer satisfies never;
    }
  });
}
