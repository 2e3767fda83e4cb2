/**
 * The whole decision about a NodeSet: what is observed and remembered, and the time, in; a plan out. No I/O, no clock: a plan can be
 * printed (`describe-plan.ts`) and simulated instead of carried out.
 */
import type { Controller, NodeSet } from '@slurm-operator/api';
import type { Waiting } from '@slurm-operator/slurm';
import type { CustomAction } from '../../../framework/actions.ts';
import type { Plan } from '../../../framework/define-reconciler.ts';
import type { Problem } from '../../../framework/status/conditions.ts';
import type { WorkerAction } from '../model/actions.ts';
import { isOwn } from '../model/node-state.ts';
import type { Observed, Worker } from '../model/observed.ts';
import {
  planWindow,
  type ReservationAnswer,
  type WindowAction,
  type WindowPlan,
} from './maintenance-window.ts';
import { type NodeSetMemory, rememberedFacts, restAfter, withObservation } from './memory.ts';
import { pins } from './pins.ts';
import { planWorkers, type WorkerPlan } from './plan-workers.ts';
import { keptRevision, type ObservedRevisions, planRevisions } from './revisions.ts';
import { type ObservedShared, planShared } from './shared-objects.ts';

export interface ObservedNodeSet {
  readonly nodeSet: NodeSet;
  readonly controller: Controller | undefined;
  /** What the decision about its workers depends on. */
  readonly facts: Observed;
  /** What the rules for a NodeSet find: a Controller that does not exist, names that another set has. */
  readonly specProblems: readonly Problem[];
  readonly shared: ObservedShared;
  readonly revisions: ObservedRevisions;
  readonly reservation: ReservationAnswer;
  readonly memory: NodeSetMemory;
}

/** The changes of workers and of what belongs to them; independent ones are carried out at once. */
export interface WorkersAction extends CustomAction {
  readonly type: 'Workers';
  readonly actions: readonly WorkerAction[];
  /** More are created right after these: what is only reported waits for them, unless a creation fails. */
  readonly moreToCreate: boolean;
}

/** How often Slurm is asked for news. */
export interface PollAction extends CustomAction {
  readonly type: 'Poll';
  readonly waiting: Waiting;
}

export type NodeSetAction = WorkersAction | PollAction | WindowAction;

export interface NodeSetPlan extends Plan<NodeSetAction> {
  readonly workers: WorkerPlan;
  readonly window: WindowPlan;
  readonly memory: NodeSetMemory;
}

/** Without any other event the NodeSet is observed again after this time. */
const lookAgain = 60_000;

/**
 * Workers created before the world is observed again: thousands must not keep one drained worker waiting. Without removals the
 * observations may be rarer: between two of them the API server has nothing to do.
 */
const mostCreations = { whileRemoving: 500, otherwise: 1_000 };

/** While more workers than this are to be created, what Slurm reports of them is not acted on yet. */
const manyCreations = 500;

export function planNodeSet(observed: ObservedNodeSet, now: number): NodeSetPlan {
  const { nodeSet, controller, specProblems, shared, revisions, reservation } = observed;
  const memory = withObservation(observed.memory, observed.facts, now);
  const facts: Observed = { ...observed.facts, ...rememberedFacts(memory) };
  const { deleting } = facts;
  const workers = planWorkers(facts, now);
  const window = planWindow(nodeSet, reservation, registeredNames(facts), now, memory.reservationAskedAt);
  const creations = paceCreations(workers, controller !== undefined && specProblems.length === 0);
  const polls = !creations.busy && workers.waitsForSlurm;

  const nodes = pins(nodeSet, facts);
  const keepsFinalizer = window.keepsFinalizer && controller !== undefined;
  const changes = workers.actions
    .filter((action) => !creations.postponed.has(action))
    .filter((action) => !(keepsFinalizer && action.kind === 'remove-finalizer'))
    .map((action) => (action.kind === 'create-worker' ? pinned(action, nodes) : action));
  const inUse = new Set([...facts.workers.map((worker) => worker.revision), keptRevision(facts)]);
  return {
    actions: [
      ...(polls !== false || memory.pollsFast ? [pollAction(polls)] : []),
      ...planShared(nodeSet, controller, shared),
      ...(deleting ? [] : planRevisions(nodeSet, facts.updateRevision, inUse, revisions)),
      // Without the NodeSet nothing would remember its reservation: it goes first.
      ...(deleting ? window.actions : []),
      ...(changes.length === 0 ? [] : [workersAction(changes, creations.moreToCreate)]),
      ...(deleting ? [] : window.actions),
    ],
    // A NodeSet that is being deleted needs neither its Controller nor the names in its spec any more.
    problems: deleting ? [] : specProblems.slice(0, 1),
    lookAgainAt: Math.min(
      now + lookAgain,
      creations.moreToCreate ? now : Number.POSITIVE_INFINITY,
      workers.wakeAt ?? Number.POSITIVE_INFINITY,
      window.wakeAt ?? Number.POSITIVE_INFINITY,
    ),
    workers,
    window,
    memory: {
      ...memory,
      lostSince: facts.slurm.kind === 'known' ? lostSince(memory, workers, now) : memory.lostSince,
      restUntil: restAfter(facts.workers.length, now),
      pollsFast: polls !== false,
      reservationAskedAt: window.askedAt,
    },
  };
}

const workersAction = (actions: readonly WorkerAction[], moreToCreate: boolean): WorkersAction => ({
  type: 'Workers',
  title: 'workers',
  actions,
  moreToCreate,
});

const pollAction = (waiting: Waiting): PollAction => ({
  type: 'Poll',
  title: waiting === false ? 'Slurm at its usual rate' : waiting === 'jobs' ? 'jobs often' : 'Slurm often',
  waiting,
});

interface Creations {
  readonly postponed: ReadonlySet<WorkerAction>;
  readonly moreToCreate: boolean;
  /** While workers are created by the thousand, Slurm need not be asked every second. */
  readonly busy: boolean;
}

function paceCreations({ actions, toRemove }: WorkerPlan, mayCreate: boolean): Creations {
  const creations = actions.filter(({ kind }) => kind === 'create-worker');
  const hasRemovals = toRemove.length > 0;
  const most = hasRemovals ? mostCreations.whileRemoving : mostCreations.otherwise;
  const postponed = new Set(creations.slice(mayCreate ? most : 0));
  return {
    postponed,
    moreToCreate: mayCreate && postponed.size > 0,
    busy: creations.length > manyCreations && !hasRemovals,
  };
}

type Creation = Extract<WorkerAction, { kind: 'create-worker' }>;

function pinned(action: Creation, nodes: ReadonlyMap<number, string>): Creation {
  const pinnedTo = action.slot.mode === 'StatefulSet' ? nodes.get(action.slot.ordinal) : undefined;
  return pinnedTo === undefined ? action : { ...action, pinnedTo };
}

function registeredNames(facts: Observed): string[] {
  return facts.workers.filter((worker) => isListed(facts, worker)).map((worker) => worker.slurmName);
}

function isListed({ slurm }: Observed, worker: Worker): boolean {
  const node = slurm.kind === 'known' ? slurm.nodes.get(worker.slurmName) : undefined;
  return node !== undefined && isOwn(node, worker);
}

const lostSince = (memory: NodeSetMemory, { hasUnregistered }: WorkerPlan, now: number) =>
  hasUnregistered ? Math.min(memory.lostSince ?? now, now) : undefined;
