/** The NodeSet controller: observe, plan, act, and say how it went. */
import { app, conditionType, label, type NodeSet } from '@slurm-operator/api';
import {
  explain,
  type Live,
  type Manager,
  OwnedApplier,
  type ReconcileContext,
  type Request,
  type Result,
} from '@slurm-operator/kube';
import { compressHostlist } from '@slurm-operator/slurm';
import { nodeSets } from '../../cache/resources.ts';
import type { Verdict } from '../../framework/status/judge.ts';
import { refusedRequest } from '../../framework/status/refused-request.ts';
import { writeStatus } from '../../framework/status/write-status.ts';
import type { GatewayFinder, NodesView, SlurmGateway } from '../../slurm-connection/slurm-gateway.ts';
import { act } from './act/act.ts';
import { createWorker } from './act/create-worker.ts';
import { Blueprints } from './blueprint.ts';
import { NameConflictError } from './errors.ts';
import { eventsFor } from './events.ts';
import { NodeSetMemories } from './memory.ts';
import { NodeSetMetrics } from './metrics.ts';
import type { WorkerSurroundings } from './objects/worker-template.ts';
import { specTroublesOf } from './observe/name-conflict.ts';
import { controllerOfSet, observe } from './observe/observe.ts';
import { pins, pinsForStatus, rememberedPins } from './pins.ts';
import type { Action } from './plan/actions.ts';
import { keptRevision } from './plan/kept-revision.ts';
import { isOwn } from './plan/node-state.ts';
import { type Observed, slotKey, type Worker } from './plan/observed.ts';
import { type Plan, plan } from './plan/plan.ts';
import { madeWindow, syncReservation, withdrawnReservation } from './reservation.ts';
import { syncRevisions } from './revisions.ts';
import { syncShared } from './shared-objects.ts';
import { nodeSetStatus, type Trouble } from './status.ts';

export interface NodeSetOptions extends WorkerSurroundings {
  /** Node conditions whose text becomes the reason of a drain when the Node is cordoned. */
  readonly propagatedConditions: ReadonlySet<string>;
  /** Requests under way at once for one NodeSet. */
  readonly parallel: number;
}

/** Even when nothing tells us to, look again after this long. */
const lookAgain = 60_000;

/**
 * Workers made before the world is looked at again: thousands must not keep one drained worker waiting. Where nobody is to go the
 * looks may be rarer: between two of them the API server has nothing to do.
 */
const mostCreations = { whileSomebodyGoes: 500, otherwise: 1_000 };

/** While more workers than this are to be made, what Slurm says of them is not acted on yet. */
const manyCreations = 500;

export class NodeSetReconciler {
  readonly #manager: Pick<Manager, 'cache' | 'client' | 'recorder' | 'metrics'>;
  readonly #gateways: GatewayFinder;
  readonly #options: NodeSetOptions;
  readonly #memories = new NodeSetMemories();
  readonly #metrics: NodeSetMetrics;
  readonly #owned: OwnedApplier;

  constructor(
    manager: Pick<Manager, 'cache' | 'client' | 'recorder' | 'metrics'>,
    gateways: GatewayFinder,
    options: NodeSetOptions,
  ) {
    this.#manager = manager;
    this.#gateways = gateways;
    this.#options = options;
    this.#metrics = new NodeSetMetrics(manager.metrics.registry);
    this.#owned = new OwnedApplier(manager.client, manager.cache);
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const { cache, client } = this.#manager;
    const nodeSet = cache.get(nodeSets, request) as NodeSet | undefined;
    if (nodeSet === undefined) return this.#forget(request);
    const controller = controllerOfSet(cache, nodeSet);
    const gateway = this.#gateways(nodeSet.metadata.namespace, nodeSet.spec.controllerRef.name);
    const now = context.clock.now();
    const memory = this.#memories.of(request.key, nodeSet.metadata.uid);
    const began = context.clock.monotonic();
    const rest = memory.restLeft(began);
    if (rest > 0) return { requeueAfter: rest };
    const [inSpec] = specTroublesOf(cache, nodeSet);
    const observed = this.#observe(nodeSet, gateway, now);
    memory.noticeFailures(observed.workers, now);
    memory.forgetRefusalsOfOthers(observed.workers);
    if (observed.slurm.kind === 'known') memory.settle(observed.slurm.at, now);
    const decided = plan(observed, now);
    if (observed.slurm.kind === 'known') memory.noticeUnregistered(decided.hasUnregistered, now);
    const creations = decided.actions.filter((action) => action.kind === 'create-worker');
    const somebodyGoes = decided.condemned.length > 0;
    // While workers are made by the thousand Slurm need not be asked every second.
    const busyCreating = creations.length > manyCreations && !somebodyGoes;
    memory.expect(gateway, `nodeset ${request.key}`, decided.waitsForSlurm && !busyCreating);
    memory.looked(began, observed.workers.length);

    // Each step stands alone: one that fails is told of, and the others go on.
    const failures: unknown[] = [];
    const step = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error));
    const done: Action[] = [];
    const pinned = pins(nodeSet, observed);
    let window: Verdict | undefined;
    if (controller !== undefined)
      await step(syncShared(nodeSet, controller, { cache, client, owned: this.#owned }, context.signal));
    if (!observed.deleting) {
      const inUse = new Set([...observed.workers.map((worker) => worker.revision), keptRevision(observed)]);
      await step(syncRevisions(nodeSet, observed.updateRevision, inUse, this.#manager, context.signal));
    }
    const registered =
      observed.slurm.kind === 'known'
        ? observed.workers.filter((worker) => isListed(observed, worker)).map((worker) => worker.slurmName)
        : [];
    const noteIntent = (intent: Verdict) => this.#noteCondition(nodeSet, intent, context);
    const reserve = async () => {
      window = await syncReservation(nodeSet, registered, gateway, now, noteIntent, context.signal);
    };
    // Without the NodeSet nothing would remember its reservation.
    const reserved = madeWindow(nodeSet) !== undefined;
    if (observed.deleting) await step(reserve());
    const keepsFinalizer = reserved && controller !== undefined && window?.status !== 'False';
    // Without its Controller nothing can be built, but what is there can still be drained and deleted.
    const blueprints =
      controller && new Blueprints(nodeSet, observed.updateRevision, controller, this.#options, client);
    const claims = new Set(observed.claims.map((claim) => claim.name));
    const mayCreate = blueprints !== undefined && inSpec === undefined;
    const most = somebodyGoes ? mostCreations.whileSomebodyGoes : mostCreations.otherwise;
    const postponed = new Set<Action>(creations.slice(mayCreate ? most : 0));
    await step(
      act(
        decided.actions.filter(
          (action) => !postponed.has(action) && !(keepsFinalizer && action.kind === 'remove-finalizer'),
        ),
        {
          client,
          gateway,
          nodeSet,
          signal: context.signal,
          now: () => context.clock.now(),
          parallel: this.#options.parallel,
          moreToCreate: mayCreate && postponed.size > 0,
          createWorker: async ({ slot, revision }, signal) => {
            const blueprint = await blueprints?.of(revision, signal);
            if (blueprint !== undefined)
              await createWorker(slot, observed, claims, pinned, blueprint, client, signal);
          },
          wrote: (slurmName, stillForMs = 0) => memory.wrote(slurmName, context.clock.now() + stillForMs),
          refused: ({ slurmName, topology }, words) => {
            memory.refused(slurmName, topology, words, context.clock.now());
            context.log.warn({ slurmName, topology, words }, 'Slurm refuses an update');
          },
          done: (action) => {
            done.push(action);
            if (action.kind === 'update-node') memory.accepted(action.slurmName, action.topology);
            this.#metrics.count(nodeSet.metadata, action, context.clock.now());
            // Workers are made by the thousand, and what is known of each is its slot: one line tells of all.
            if (action.kind !== 'create-worker') context.log.info({ action: forLog(action) }, 'done');
          },
        },
      ),
    );
    const made = done.flatMap((action) => (action.kind === 'create-worker' ? slotKey(action.slot) : []));
    if (made.length > 0) context.log.info({ slots: compressHostlist(made) }, 'workers created');
    if (!observed.deleting) await step(reserve());
    const [failure] = failures;
    // A NodeSet that is being deleted needs neither its Controller nor the names in its spec any more.
    const trouble = (observed.deleting ? undefined : inSpec) ?? troubleOf(failure);
    for (const { type, reason, note } of eventsFor(done, decided.desired))
      this.#manager.recorder.record({ regarding: nodeSet, type, reason, note });
    await this.#report(nodeSet, { decided, trouble, window }, context, now);
    if (failure !== undefined) throw failure;
    const wakeAt = mayCreate && postponed.size > 0 ? now : decided.wakeAt;
    return { requeueAfter: Math.min(lookAgain, Math.max(100, (wakeAt ?? Number.POSITIVE_INFINITY) - now)) };
  };

  #forget({ key, namespace, name }: Request): void {
    this.#memories.forget(key);
    this.#metrics.forget({ namespace: namespace ?? '', name });
  }

  /** Status is judged on what is there after acting: the cache has our own writes already. */
  async #report(
    nodeSet: NodeSet,
    { decided, trouble, window }: Outcome,
    context: ReconcileContext,
    now: number,
  ): Promise<void> {
    const { cache, client } = this.#manager;
    const current = cache.get(nodeSets, nodeSet.metadata) as NodeSet | undefined;
    if (current === undefined) return;
    const gateway = this.#gateways(nodeSet.metadata.namespace, nodeSet.spec.controllerRef.name);
    const after = this.#observe(current, gateway, now);
    const status = nodeSetStatus(after, decided, trouble, now);
    this.#metrics.show(nodeSet.metadata, decided, status);
    const conditions = window === undefined ? status.conditions : [...status.conditions, window];
    const { collisionCount } = current.status ?? {};
    const fields = {
      ...status.counts,
      nodeSetHash: after.updateRevision,
      currentRevision: keptRevision(after),
      ordinalToNode: pinsForStatus(rememberedPins(current, after)),
      selector: `${label.name}=${app.worker},${label.instance}=${current.metadata.name}`,
      ...(collisionCount === undefined ? {} : { collisionCount }),
    };
    this.#tellHold(current, status.conditions);
    const withdrawn = window === undefined ? withdrawnReservation(current) : [];
    const live = current as unknown as Live<NodeSet>;
    await writeStatus(nodeSets, live, fields, conditions, client, context, withdrawn);
  }

  /** Told once when its lines begin to wait for jobs, and when they no longer do. */
  #tellHold(nodeSet: NodeSet, conditions: readonly Verdict[]): void {
    const type = conditionType.configApplied;
    const before = nodeSet.status?.conditions?.find((one) => one.type === type);
    const now = conditions.find((one) => one.type === type);
    const [was, is] = [before?.reason === 'ConfigHeld', now?.reason === 'ConfigHeld'];
    if (was === is || now === undefined) return;
    this.#manager.recorder.record({
      regarding: nodeSet,
      type: 'Normal',
      reason: is ? 'ConfigHeld' : 'ConfigReleased',
      note: is ? now.message : 'No job needs the old lines of this NodeSet in slurm.conf.',
    });
  }

  /** One condition, before the rest of the status is known. */
  async #noteCondition(nodeSet: NodeSet, condition: Verdict, context: ReconcileContext): Promise<void> {
    const { cache, client } = this.#manager;
    const current = cache.get(nodeSets, nodeSet.metadata) as NodeSet | undefined;
    if (current === undefined) return;
    const { conditions: _conditions, observedGeneration: _generation, ...fields } = current.status ?? {};
    await writeStatus(nodeSets, current as unknown as Live<NodeSet>, fields, [condition], client, context);
  }

  #observe(nodeSet: NodeSet, gateway: SlurmGateway | undefined, now: number): Observed {
    const view: NodesView = gateway?.view() ?? {
      kind: 'unknown',
      since: 0,
      why: 'there is no connection to Slurm yet',
    };
    const memory = this.#memories.of(
      `${nodeSet.metadata.namespace}/${nodeSet.metadata.name}`,
      nodeSet.metadata.uid,
    );
    const { propagatedConditions } = this.#options;
    return observe(
      nodeSet,
      view,
      memory,
      { cache: this.#manager.cache, propagatedConditions, release: gateway?.release() },
      now,
    );
  }
}

interface Outcome {
  readonly decided: Plan;
  readonly trouble: Trouble | undefined;
  readonly window: Verdict | undefined;
}

function isListed({ slurm }: Observed, worker: Worker): boolean {
  const node = slurm.kind === 'known' ? slurm.nodes.get(worker.slurmName) : undefined;
  return node !== undefined && isOwn(node, worker);
}

function troubleOf(failure: unknown): Trouble | undefined {
  if (failure === undefined) return undefined;
  const reason = failure instanceof NameConflictError ? failure.code : 'ApplyFailed';
  return refusedRequest(failure) ?? { reason, message: explain(failure) };
}

/** A log is JSON, which has no maps. */
function forLog(action: Action): object {
  return action.kind === 'mirror-state'
    ? { ...action, conditions: Object.fromEntries(action.conditions) }
    : action;
}
