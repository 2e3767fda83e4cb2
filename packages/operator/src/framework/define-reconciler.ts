/** The frame of a reconciler: observe the object and its world, plan what to do, do it, report the status. */
import type {
  KubeObject,
  Live,
  Manager,
  ReconcileContext,
  Request,
  Resource,
  Result,
} from '@slurm-operator/kube';
import type { Action, CustomAction } from './actions.ts';
import { carryOut } from './carry-out.ts';
import { Memories, type MemoryDefinition } from './memories.ts';
import type { Problem } from './status/conditions.ts';
import { type StatusReport, writeStatus } from './status/write-status.ts';
import { Steps } from './steps.ts';

export type { StatusReport };

export type Reconcile = (request: Request, context: ReconcileContext) => Promise<Result | undefined>;

/** What a reconciler uses of the manager. */
export type ReconcilerManager = Pick<Manager, 'cache' | 'client' | 'owned' | 'recorder'>;

export interface Plan<Custom extends CustomAction = never> {
  readonly actions: readonly (Action | Custom)[];
  /** What keeps the object from being as it should be. */
  readonly problems: readonly Problem[];
  /** Milliseconds since the epoch; without it only a change of something watched starts the next reconcile. */
  readonly lookAgainAt?: number | undefined;
}

export interface Observing<Memory> {
  readonly memory: Memory;
  readonly now: () => number;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** What the custom actions of a plan are carried out with. */
export interface Acting<T extends KubeObject, Observed, P, Note> extends ReconcileContext {
  readonly object: Live<T>;
  readonly observed: Observed;
  readonly plan: P;
  /** Records something that the next reconcile or the status needs to know. It counts also if the reconcile is aborted. */
  readonly note: (note: Note) => void;
}

export interface Outcome<Observed, P, Note = never> {
  /** What the plan was made from. */
  readonly observed: Observed;
  /** The same after acting, with the operator's own writes, where the kind observes again. */
  readonly after: Observed;
  readonly plan: P;
  /** The plan's problems, and the actions that failed. */
  readonly problems: readonly Problem[];
  readonly succeeded: (action: P extends Plan<infer Custom> ? Action | Custom : never) => boolean;
  readonly notes: readonly Note[];
  /** When the plan was made. */
  readonly now: number;
}

export interface EventNote {
  /** @default the object that is reconciled */
  readonly regarding?: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly note: string;
}

export interface ReconcilerDefinition<
  T extends KubeObject,
  Observed,
  P extends Plan<Custom>,
  Custom extends CustomAction = never,
  Memory = undefined,
  Note = never,
> {
  readonly resource: Resource<T>;
  /** Objects that are being deleted are reconciled too: the kind has a finalizer. @default false */
  readonly finalizes?: boolean;
  /** What is remembered between two reconciles: an input of `observe`, and a value that the plan and the notes result in. */
  readonly memory?: MemoryDefinition<P, Memory, Note>;
  /** Reads, and changes nothing. */
  readonly observe: (object: Live<T>, observing: Observing<Memory>) => Observed | Promise<Observed>;
  /** Pure: every decision is made here. */
  readonly plan: (observed: Observed, now: number) => P & Plan<Custom>;
  /** Carries out the actions that only this kind has. */
  readonly act?: (action: Custom, acting: Acting<T, Observed, P, Note>) => Promise<unknown>;
  /** Reads caches once more after acting. @default what was observed before */
  readonly observeAgain?: (object: Live<T>, observed: Observed, observing: Observing<Memory>) => Observed;
  /** Pure. */
  readonly status: (outcome: Outcome<Observed, P, Note>) => StatusReport;
  /** Pure. */
  readonly events?: (outcome: Outcome<Observed, P, Note>, report: StatusReport) => readonly EventNote[];
  /** For logs and metrics. */
  readonly report?: (outcome: Outcome<Observed, P, Note>, log: ReconcileContext['log']) => void;
  /** The object is gone. */
  readonly forget?: (request: Request) => void | Promise<void>;
  /** Pure: where carrying out the plan changed when to look again. @default the plan's */
  readonly lookAgainAt?: (outcome: Outcome<Observed, P, Note>) => number | undefined;
  /** Milliseconds between two reconciles that a plan asks for, at least. @default 1000 */
  readonly soonest?: number;
}

/** Failed actions are thrown after the status reports them, so that the queue retries. */
export function defineReconciler<
  T extends KubeObject,
  Observed,
  P extends Plan<Custom>,
  Custom extends CustomAction = never,
  Memory = undefined,
  Note = never,
>(
  manager: ReconcilerManager,
  definition: ReconcilerDefinition<T, Observed, P, Custom, Memory, Note>,
): Reconcile {
  const { resource, observe, observeAgain, act, status, soonest = 1000 } = definition;
  const { cache, client, recorder } = manager;
  const memories = new Memories(definition.memory);

  return async (request, context) => {
    const { signal, clock } = context;
    const object = cache.get(resource, request);
    if (object === undefined || (isBeingDeleted(object) && definition.finalizes !== true)) {
      memories.forget(request.key);
      await definition.forget?.(request);
      return undefined;
    }
    const owner: Live = object;
    const memory = memories.of(request.key, owner.metadata.uid);
    const rest = memory.restLeft(clock.now());
    if (rest > 0) return { requeueAfter: rest };
    const observing = (): Observing<Memory> => ({
      memory: memory.value,
      now: () => clock.now(),
      random: () => clock.random(),
      signal,
    });

    const observed = await observe(object, observing());
    const now = clock.now();
    const plan = definition.plan(observed, now);

    const steps = new Steps(owner, recorder, signal);
    const notes: Note[] = [];
    const acting = { ...context, object, observed, plan, note: (note: Note) => void notes.push(note) };
    const succeeded = new Set<object>();
    const custom = (action: Custom): Promise<unknown> =>
      act?.(action, acting) ?? Promise.reject(new Error(`no way to carry out ${action.type}`));
    await carryOut(plan.actions, { manager, owner, steps, signal }, custom, succeeded).finally(() =>
      memory.learn(plan, notes, succeeded),
    );

    const current = cache.get(resource, request);
    if (current === undefined) return undefined;
    const outcome: Outcome<Observed, P, Note> = {
      observed,
      after: observeAgain?.(current, observed, observing()) ?? observed,
      plan,
      problems: [...plan.problems, ...steps.failures],
      succeeded: (action) => succeeded.has(action),
      notes,
      now,
    };
    definition.report?.(outcome, context.log);
    const report = status(outcome);
    for (const event of definition.events?.(outcome, report) ?? [])
      recorder.record({ regarding: owner, ...event });
    await writeStatus(resource, withGeneration(current, object), report, client, context);
    steps.throwFailures();
    const lookAgainAt = definition.lookAgainAt?.(outcome) ?? plan.lookAgainAt;
    return lookAgainAt === undefined
      ? undefined
      : { requeueAfter: Math.max(soonest, 1, lookAgainAt - clock.now()) };
  };
}

const isBeingDeleted = ({ metadata }: Live): boolean => metadata.deletionTimestamp !== undefined;

/** The status belongs to the generation that was observed, even if the object has changed since. */
function withGeneration<T extends KubeObject>(current: Live<T>, observed: Live<T>): Live<T> {
  const { generation } = observed.metadata;
  if (current.metadata.generation === generation || generation === undefined) return current;
  return { ...current, metadata: { ...current.metadata, generation } };
}
