/**
 * A dry run: the plan of a NodeSet in virtual time. It decides nothing itself, so what it shows is what the operator would do if jobs,
 * starts and terminations took the given times. Pure.
 */
import type { WhyGone, WorkerAction } from '../model/actions.ts';
import { isAvailable } from '../model/availability.ts';
import type { Observed } from '../model/observed.ts';
import { planWorkers, type WorkerPlan } from '../plan/plan-workers.ts';
import { keptRevision } from '../plan/revisions.ts';
import { type Durations, type SimulatedJob, VirtualWorld } from './virtual-world.ts';

export type StepKind = 'drain' | 'undrain' | 'delete' | 'create' | 'ready' | 'gone';

export interface Step {
  readonly at: number;
  readonly kind: StepKind;
  /** Of the pod; of a drain the Slurm node. */
  readonly name: string;
  readonly why?: WhyGone;
}

export interface Simulation {
  readonly steps: readonly Step[];
  /** When nothing is left to do; undefined if something waits for an event that is not expected. */
  readonly endsAt: number | undefined;
  /** Workers that should be removed or replaced and never are. */
  readonly blocked: readonly string[];
  /** Why, in the words of the operator's own plan. */
  readonly withheld: readonly string[];
  readonly availableBefore: number;
  readonly lowestAvailable: number;
  readonly availableAfter: number;
  /** Claims that the retention policy deletes. */
  readonly deletedClaims: readonly string[];
  /** Workers with an old revision at the end: OnDelete, a partition, a pause, a window. */
  readonly outdated: readonly string[];
}

/** Rounds for each worker and job, and some for what is between them: more than any rollout needs. */
const roundsEach = 20;
/** Rounds without any change, or without any time between them, before the simulation goes on to the next event. */
const mostRepeats = 20;

export function simulate(
  observed: Observed,
  jobs: readonly SimulatedJob[],
  durations: Durations,
  now: number,
): Simulation {
  const world = new VirtualWorld(observed, jobs, durations, now);
  const steps: Step[] = [];
  const deletedClaims: string[] = [];
  const availableBefore = available(world.observe(now), now);
  let lowestAvailable = availableBefore;
  let lastChange = now;
  let quiet = 0;
  let repeats = 0;
  let time = now;
  let plan: WorkerPlan | undefined;
  const mostRounds = 500 + roundsEach * (observed.workers.length + observed.replicas + jobs.length);
  for (let round = 0; round < mostRounds && !world.finalized; round += 1) {
    const seen = world.observe(time);
    lowestAvailable = Math.min(lowestAvailable, available(seen, time));
    plan = planWorkers(seen, time);
    if (seen.slurm.kind === 'known')
      world.lostSince = plan.hasUnregistered ? (world.lostSince ?? time) : undefined;
    for (const action of plan.actions) {
      world.carryOut(action, time);
      const step = stepOf(action, seen, time);
      if (step !== undefined) steps.push(step);
      if (action.kind === 'delete-claim') deletedClaims.push(action.name);
      if (changesTheWorld(action)) [lastChange, quiet] = [time, 0];
    }
    world.currentRevision = keptRevision(world.observe(time));
    if (plan.actions.length > 0 && repeats < mostRepeats) {
      // The next list of Slurm shows what was written.
      time += 1;
      repeats += 1;
      continue;
    }
    const next = earliest(world.nextEvent(time), quiet < mostRepeats ? plan.wakeAt : undefined);
    if (next === undefined) break;
    quiet += 1;
    repeats = 0;
    time = next;
    const happened = world.pass(time);
    if (happened.length > 0) [lastChange, quiet] = [time, 0];
    steps.push(...happened.map(({ kind, name }): Step => ({ at: time, kind, name })));
  }
  const after = world.observe(time);
  const blocked = [...(plan?.toRemove ?? [])].map(({ name }) => name).toSorted();
  const desired = plan?.desired ?? 0;
  const isComplete = blocked.length === 0 && (world.finalized || available(after, time) >= desired);
  return {
    steps,
    endsAt: isComplete ? lastChange : undefined,
    blocked,
    withheld: plan?.withheld ?? [],
    availableBefore,
    lowestAvailable,
    availableAfter: available(after, time),
    deletedClaims,
    outdated: after.workers
      .filter(({ revision, name }) => revision !== after.updateRevision && !blocked.includes(name))
      .map(({ name }) => name)
      .toSorted(),
  };
}

/** Workers that can take jobs: available, and not held back in Slurm. */
function available(observed: Observed, now: number): number {
  const { slurm } = observed;
  return observed.workers.filter((worker) => {
    if (!isAvailable(worker, observed, now)) return false;
    if (slurm.kind === 'unknown') return true;
    const node = slurm.nodes.get(worker.slurmName);
    return node !== undefined && !node.flags.has('DRAIN') && node.base !== 'DOWN';
  }).length;
}

function stepOf(action: WorkerAction, observed: Observed, at: number): Step | undefined {
  switch (action.kind) {
    case 'drain':
    case 'undrain':
      return { at, kind: action.kind, name: action.slurmName };
    case 'delete-worker':
      return { at, kind: 'delete', name: action.name, why: action.why };
    case 'create-worker': {
      const { slot } = action;
      return {
        at,
        kind: 'create',
        name: `${observed.name}-${slot.mode === 'StatefulSet' ? slot.ordinal : slot.nodeName}`,
      };
    }
    default:
      return undefined;
  }
}

/** Notes on pods and records do not prolong a rollout. */
const changesTheWorld = ({ kind }: WorkerAction): boolean =>
  ['create-worker', 'delete-worker', 'drain', 'undrain', 'delete-record', 'remove-finalizer'].includes(kind);

const earliest = (...times: readonly (number | undefined)[]): number | undefined =>
  times.reduce((a, b) => (a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)));
