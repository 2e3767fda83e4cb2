/** Which vacant slots are filled now, and what keeps others empty. */
import { isLeftAsleep } from '../autoscale/slot-states.ts';
import type { WorkerAction } from '../model/actions.ts';
import { askSlurm } from '../model/node-state.ts';
import { type Claim, type Observed, type Slot, slotKey, slurmNameOf } from '../model/observed.ts';
import { keptRevision, olderRevisionFor } from './revisions.ts';

export interface CreationPlan {
  readonly actions: readonly WorkerAction[];
  readonly withheld: readonly string[];
  readonly wakes: readonly (number | undefined)[];
  /** Names in Slurm that this NodeSet wants or has, and that belong to another one. */
  readonly nameConflicts: readonly string[];
}

interface Obstacle {
  readonly why: string;
  readonly until: number | undefined;
}

/** `outdated`: records of predecessors that this plan drains or deletes, or keeps for a pending job until it no longer needs them. */
export function planCreations(
  observed: Observed,
  vacant: readonly Slot[],
  outdated: ReadonlySet<string>,
  now: number,
): CreationPlan {
  const actions: WorkerAction[] = [];
  const withheld: string[] = [];
  const wakes: (number | undefined)[] = [];
  const kept = keptRevision(observed);
  const leaving = new Map(
    observed.claims.filter((claim) => claim.terminating).map((claim) => [slotKey(claim.slot), claim]),
  );
  let room = observed.room?.free ?? Number.POSITIVE_INFINITY;
  for (const slot of vacant) {
    const name = slurmNameOf(slot, observed) ?? '';
    const isNew = observed.slurm.kind === 'unknown' || !observed.slurm.nodes.has(name);
    const obstacle =
      nameObstacle(slot, observed) ??
      asleepObstacle(slot, observed) ??
      obstacleTo(slotKey(slot), observed, leaving, now) ??
      (outdated.has(name) ? outdatedRecord(name) : undefined) ??
      (isNew && room < 1 ? noRoom(name, observed, now) : undefined);
    if (obstacle === undefined) {
      if (isNew) room -= 1;
      const revision = olderRevisionFor(slot, observed, kept);
      actions.push({
        kind: 'create-worker',
        slot,
        ...(revision === undefined ? {} : { revision }),
        ...(mayBeAwaited(name, observed) ? { forWakeUp: true } : {}),
      });
    } else {
      withheld.push(obstacle.why);
      wakes.push(obstacle.until);
    }
  }
  return { actions, withheld, wakes, nameConflicts: nameConflicts(observed, vacant) };
}

/** Slurm gives jobs to nodes that it has. A maximum may be lowered and autoscaling switched off before the worker of such a node exists. */
const mayBeAwaited = (name: string, { autoscale, slurm, lastWrites }: Observed): boolean =>
  autoscale !== undefined || askSlurm(slurm, name, lastWrites).kind !== 'absent';

function nameConflicts(observed: Observed, vacant: readonly Slot[]): string[] {
  if (observed.takenNames.size === 0) return [];
  const names = [
    ...observed.workers.map((worker) => worker.slurmName),
    ...vacant.map((slot) => slurmNameOf(slot, observed) ?? ''),
  ];
  return names.filter((name) => observed.takenNames.has(name));
}

/** The record of an autoscaled slot sleeps until Slurm wakes it, and ignores what registers: without autoscale it is deleted first. */
function asleepObstacle(slot: Slot, observed: Observed): Obstacle | undefined {
  const name = slurmNameOf(slot, observed) ?? '';
  if (observed.autoscale !== undefined || !isLeftAsleep(name, observed)) return undefined;
  return {
    why: `${name} is not created yet: its Slurm node is powered down and is deleted first`,
    until: undefined,
  };
}

/** Two slurmd of one name would take each other's node. */
function nameObstacle(slot: Slot, observed: Observed): Obstacle | undefined {
  const name = slurmNameOf(slot, observed) ?? '';
  const owner = observed.takenNames.get(name);
  if (owner === undefined) return undefined;
  return { why: `${name} is not created: NodeSet ${owner} has this name in Slurm`, until: undefined };
}

const outdatedRecord = (name: string): Obstacle => ({
  why: `${name} is not created yet: Slurm's record of its predecessor has other features or another size, and is deleted first`,
  until: undefined,
});

/** The Controller may be about to write a larger limit. */
const roomAgain = 5_000;

/** It could not register; or it would, with jobs, before slurmctld reads the smaller limit and drops it. */
const noRoom = (name: string, { room }: Observed, now: number): Obstacle => ({
  why: `${name} is not created: MaxNodeCount=${room?.limit} in slurm.conf leaves no room; raise spec.maxNodeCount of the Controller`,
  until: now + roomAgain,
});

function obstacleTo(
  slot: string,
  { backoff }: Observed,
  leaving: ReadonlyMap<string, Claim>,
  now: number,
): Obstacle | undefined {
  const until = backoff.get(slot);
  if (until !== undefined && until > now)
    return { why: `${slot} is not created yet: its last pods failed`, until };
  const claim = leaving.get(slot);
  if (claim !== undefined)
    return { why: `${slot} is not created yet: its claim ${claim.name} is being deleted`, until: undefined };
  return undefined;
}
