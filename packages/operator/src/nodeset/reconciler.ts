/** The NodeSet controller: observe, plan, act, and say how it went. */
import { conditionType, type NodeSet } from '@slurm-operator/api';
import {
  type Client,
  explain,
  ForbiddenError,
  type Manager,
  type ReconcileContext,
  type Request,
  type Result,
} from '@slurm-operator/kube';
import { nodeSets } from '../resources.ts';
import { act } from './act/act.ts';
import { createWorker } from './act/create-worker.ts';
import { NodeSetMemories } from './memory.ts';
import { controllerOfSet, observe } from './observe/observe.ts';
import { type Plan, plan } from './plan/plan.ts';
import { syncShared } from './shared-objects.ts';
import type { GatewayFinder, NodesView } from './slurm-gateway.ts';
import { nodeSetStatus, type Trouble } from './status.ts';
import type { WorkerSurroundings } from './worker/worker-template.ts';
import { writeStatus } from './write-status.ts';

export interface NodeSetOptions extends WorkerSurroundings {
  /** Node conditions whose text becomes the reason of a drain when the Node is cordoned. */
  readonly propagatedConditions: ReadonlySet<string>;
  /** Requests under way at once for one NodeSet. */
  readonly parallel: number;
}

/** Even when nothing tells us to, look again after this long. */
const lookAgain = 60_000;

export class NodeSetReconciler {
  readonly #manager: Pick<Manager, 'cache' | 'client'>;
  readonly #gateways: GatewayFinder;
  readonly #options: NodeSetOptions;
  readonly #memories = new NodeSetMemories();

  constructor(manager: Pick<Manager, 'cache' | 'client'>, gateways: GatewayFinder, options: NodeSetOptions) {
    this.#manager = manager;
    this.#gateways = gateways;
    this.#options = options;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const { cache, client } = this.#manager;
    const nodeSet = cache.get(nodeSets, request) as NodeSet | undefined;
    if (nodeSet === undefined) return this.#memories.forget(request.key);
    const controller = controllerOfSet(cache, nodeSet);
    const gateway = this.#gateways(nodeSet.metadata.namespace, nodeSet.spec.controllerRef.name);
    const view: NodesView = gateway?.view() ?? {
      kind: 'unknown',
      since: 0,
      why: 'there is no connection to Slurm yet',
    };
    const now = context.clock.now();
    const memory = this.#memories.of(request.key, nodeSet.metadata.uid);
    const observed = observe(
      nodeSet,
      view,
      memory,
      { cache, propagatedConditions: this.#options.propagatedConditions },
      now,
    );
    memory.noticeFailures(observed.workers, now);
    const decided = plan(observed, now);
    gateway?.expectChanges(`nodeset ${request.key}`, decided.waitsForSlurm);

    let trouble: Trouble | undefined;
    let failure: unknown;
    try {
      if (controller === undefined) trouble = missingController(nodeSet);
      else await syncShared(nodeSet, controller, this.#manager, context.signal);
      // Without its Controller nothing can be built, but what is there can still be drained and deleted.
      const actions =
        controller === undefined
          ? decided.actions.filter((action) => action.kind !== 'create-worker')
          : decided.actions;
      await act(actions, {
        client,
        gateway,
        nodeSet,
        signal: context.signal,
        parallel: this.#options.parallel,
        createWorker: (slot, signal) =>
          createWorker(slot, observed, nodeSet, controller, { client, ...this.#options }, signal),
        wrote: (slurmName) => memory.wrote(slurmName, context.clock.now()),
        done: (action) => context.log.info({ action }, 'done'),
      });
    } catch (error) {
      failure = error;
      trouble ??= {
        reason: error instanceof ForbiddenError ? 'QuotaExceeded' : 'ApplyFailed',
        message: explain(error),
      };
    }
    await this.#report(nodeSet, decided, trouble, client, context, now);
    if (failure !== undefined) throw failure;
    return {
      requeueAfter: Math.min(lookAgain, Math.max(100, (decided.wakeAt ?? Number.POSITIVE_INFINITY) - now)),
    };
  };

  /** Status is judged on what is there after acting: the cache has our own writes already. */
  async #report(
    nodeSet: NodeSet,
    decided: Plan,
    trouble: Trouble | undefined,
    client: Client,
    context: ReconcileContext,
    now: number,
  ): Promise<void> {
    const { cache } = this.#manager;
    const current = cache.get(nodeSets, nodeSet.metadata) as NodeSet | undefined;
    if (current === undefined) return;
    const gateway = this.#gateways(nodeSet.metadata.namespace, nodeSet.spec.controllerRef.name);
    const view: NodesView = gateway?.view() ?? {
      kind: 'unknown',
      since: 0,
      why: 'there is no connection to Slurm yet',
    };
    const memory = this.#memories.of(
      `${nodeSet.metadata.namespace}/${nodeSet.metadata.name}`,
      nodeSet.metadata.uid,
    );
    const after = observe(
      current,
      view,
      memory,
      { cache, propagatedConditions: this.#options.propagatedConditions },
      now,
    );
    await writeStatus(
      current,
      nodeSetStatus(after, decided, trouble, now),
      after.updateRevision,
      client,
      context,
    );
  }
}

function missingController(nodeSet: NodeSet): Trouble {
  return {
    reason: 'ControllerNotFound',
    message: `spec.controllerRef.name is "${nodeSet.spec.controllerRef.name}", and there is no such Controller in namespace ${nodeSet.metadata.namespace}: create it, or correct the name (${conditionType.ready} follows by itself).`,
  };
}
