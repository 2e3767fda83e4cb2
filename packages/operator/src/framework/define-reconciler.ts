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
import type { Trouble, Verdict } from './status/judge.ts';
import { writeStatus } from './status/write-status.ts';
import { Steps } from './steps.ts';

export type Reconcile = (request: Request, context: ReconcileContext) => Promise<Result | undefined>;

/** What a reconciler uses of the manager. */
export type ReconcilerManager = Pick<Manager, 'cache' | 'client' | 'owned' | 'recorder'>;

export interface Plan<Custom extends CustomAction = never> {
  readonly actions: readonly (Action | Custom)[];
  /** What keeps the object from being as it should be. */
  readonly problems: readonly Trouble[];
  /** Milliseconds since the epoch; without it only a change of something watched starts the next reconcile. */
  readonly lookAgainAt?: number | undefined;
}

export interface Outcome<Observed, P> {
  readonly observed: Observed;
  readonly plan: P;
  /** The plan's problems, and the actions that failed. */
  readonly problems: readonly Trouble[];
  readonly succeeded: (action: P extends Plan<infer Custom> ? Action | Custom : never) => boolean;
}

export interface StatusReport {
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Verdict[];
}

export interface ReconcilerDefinition<
  T extends KubeObject,
  Observed,
  P extends Plan<Custom>,
  Custom extends CustomAction = never,
> {
  readonly resource: Resource<T>;
  /** Reads, and changes nothing. */
  readonly observe: (object: Live<T>, signal: AbortSignal) => Observed | Promise<Observed>;
  /** Pure: every decision is made here. */
  readonly plan: (observed: Observed, now: number) => P & Plan<Custom>;
  /** Carries out the actions that only this kind has. */
  readonly act?: (action: Custom, context: ReconcileContext) => Promise<unknown>;
  /** Pure. */
  readonly status: (outcome: Outcome<Observed, P>) => StatusReport;
  readonly log?: (outcome: Outcome<Observed, P>, log: ReconcileContext['log']) => void;
}

/** Failed actions are thrown after the status reports them, so that the queue retries. */
export function defineReconciler<
  T extends KubeObject,
  Observed,
  P extends Plan<Custom>,
  Custom extends CustomAction = never,
>(
  manager: ReconcilerManager,
  { resource, observe, plan, act, status, log }: ReconcilerDefinition<T, Observed, P, Custom>,
): Reconcile {
  return async (request, context) => {
    const { cache, client, recorder } = manager;
    const { signal, clock } = context;
    const object = cache.get(resource, request);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
    const owner: Live = object;
    const observed = await observe(object, signal);
    const planned = plan(observed, clock.now());
    const steps = new Steps(owner, recorder, signal);
    const succeeded = await carryOut<Custom>(
      planned.actions,
      { manager, owner, steps, signal },
      (action) => act?.(action, context) ?? Promise.reject(new Error(`no way to carry out ${action.type}`)),
    );

    const outcome: Outcome<Observed, P> = {
      observed,
      plan: planned,
      problems: [...planned.problems, ...steps.failures],
      succeeded: (action) => succeeded.has(action),
    };
    log?.(outcome, context.log);
    const current = cache.get(resource, request);
    if (current === undefined) return undefined;
    const { fields = {}, conditions } = status(outcome);
    await writeStatus(resource, withGeneration(current, object), fields, conditions, client, context);
    steps.throwFailures();
    const { lookAgainAt } = planned;
    return lookAgainAt === undefined
      ? undefined
      : { requeueAfter: Math.max(1000, lookAgainAt - clock.now()) };
  };
}

/** The status belongs to the generation that was observed, even if the object has changed since. */
function withGeneration<T extends KubeObject>(current: Live<T>, observed: Live<T>): Live<T> {
  const { generation } = observed.metadata;
  if (current.metadata.generation === generation || generation === undefined) return current;
  return { ...current, metadata: { ...current.metadata, generation } };
}
