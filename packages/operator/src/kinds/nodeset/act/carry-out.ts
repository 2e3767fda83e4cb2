/** Carries out the actions that only a NodeSet has. */
import type { NodeSet } from '@slurm-operator/api';
import type { Client, Live, Manager } from '@slurm-operator/kube';
import { compressHostlist, type Waiting } from '@slurm-operator/slurm';
import { nodeSets } from '../../../cache/resources.ts';
import type { Acting } from '../../../framework/define-reconciler.ts';
import type { Condition } from '../../../framework/status/conditions.ts';
import { recordStatus } from '../../../framework/status/write-status.ts';
import type { SlurmGateway } from '../../../slurm-connection/slurm-gateway.ts';
import type { NodeSetMetrics } from '../metrics.ts';
import type { WorkerAction } from '../model/actions.ts';
import { slotKey } from '../model/observed.ts';
import type { WorkerDefaults } from '../objects/worker-template.ts';
import { type Note, requeueableJobs } from '../plan/memory.ts';
import type { NodeSetAction, NodeSetPlan, ObservedNodeSet, WorkersAction } from '../plan/plan.ts';
import { act } from './act.ts';
import { Blueprints } from './blueprint.ts';
import { createWorker } from './create-worker.ts';

/** Which NodeSets wait for Slurm to change, and at which connection: it is polled fast for as long as one does. */
export class PollingInterest {
  readonly #gateways = new Map<string, SlurmGateway>();

  /** A connection that was used before is released: the NodeSet may belong to another Controller now. */
  set(key: string, gateway: SlurmGateway | undefined, waiting: Waiting): void {
    const before = this.#gateways.get(key);
    if (before !== gateway || waiting === false) before?.expectChanges(who(key), false);
    if (gateway === undefined || waiting === false) this.#gateways.delete(key);
    else {
      this.#gateways.set(key, gateway);
      gateway.expectChanges(who(key), waiting);
    }
  }

  forget(key: string): void {
    this.set(key, undefined, false);
  }
}

const who = (key: string): string => `nodeset ${key}`;

export interface ActorOptions extends WorkerDefaults {
  /** Requests under way at once for one NodeSet. */
  readonly parallel: number;
}

export type NodeSetActing = Acting<NodeSet, ObservedNodeSet, NodeSetPlan, Note>;

export class NodeSetActor {
  readonly #manager: Pick<Manager, 'cache' | 'client'>;
  readonly #gatewayOf: (nodeSet: NodeSet) => SlurmGateway | undefined;
  readonly #options: ActorOptions;
  readonly #metrics: NodeSetMetrics;
  readonly #polling = new PollingInterest();

  constructor(
    manager: Pick<Manager, 'cache' | 'client'>,
    gatewayOf: (nodeSet: NodeSet) => SlurmGateway | undefined,
    options: ActorOptions,
    metrics: NodeSetMetrics,
  ) {
    this.#manager = manager;
    this.#gatewayOf = gatewayOf;
    this.#options = options;
    this.#metrics = metrics;
  }

  async act(action: NodeSetAction, acting: NodeSetActing): Promise<unknown> {
    const { nodeSet } = acting.observed;
    const gateway = this.#gatewayOf(nodeSet);
    switch (action.type) {
      case 'Poll':
        return this.#polling.set(keyOf(nodeSet), gateway, action.waiting);
      case 'Workers':
        return this.#changeWorkers(action, gateway, acting);
      case 'NoteReservation':
        return this.#store({ reservation: action.record }, [action.condition], acting);
      case 'WriteReservation':
        return gateway?.writeReservation(action.write, acting.signal);
      case 'DeleteReservation':
        return gateway?.deleteReservation(action.name, acting.signal);
      default:
        return action satisfies never;
    }
  }

  forget(key: string): void {
    this.#polling.forget(key);
  }

  async #changeWorkers(
    { actions, moreToCreate }: WorkersAction,
    gateway: SlurmGateway | undefined,
    acting: NodeSetActing,
  ): Promise<void> {
    const { observed, plan, note, signal, clock, log } = acting;
    const { client } = this.#manager;
    const { nodeSet } = observed;
    const { metadata } = nodeSet;
    const created: string[] = [];
    try {
      await act(actions, {
        client,
        gateway,
        nodeSet,
        signal,
        now: () => clock.now(),
        parallel: this.#options.parallel,
        moreToCreate,
        createWorker: this.#creator(observed, client),
        wrote: (slurmName, stillForMs = 0) =>
          note({ type: 'wrote', slurmName, at: clock.now() + stillForMs }),
        storeRequeueable: (jobs) => this.#store(requeueableJobs(plan.memory.requeueable, jobs), [], acting),
        requeueable: (job, requeueable) => note({ type: 'requeueable', job, requeueable }),
        refused: ({ slurmName, topology }, message) => {
          note({ type: 'refused', slurmName, topology, message, at: clock.now() });
          log.warn({ slurmName, topology, message }, 'Slurm refuses an update');
        },
        done: (action) => {
          note({ type: 'done', action });
          this.#metrics.count(metadata, action, clock.now());
          // Workers are created by the thousand: one line reports all.
          if (action.kind === 'create-worker') created.push(slotKey(action.slot));
          else log.info({ action: forLog(action) }, 'done');
        },
      });
    } finally {
      if (created.length > 0) log.info({ slots: compressHostlist(created) }, 'workers created');
    }
  }

  /** Without its Controller nothing can be built: then the plan creates nothing. */
  #creator({ nodeSet, controller, facts }: ObservedNodeSet, client: Client) {
    const blueprints =
      controller && new Blueprints(nodeSet, facts.updateRevision, controller, this.#options, client);
    const claims = new Set(facts.claims.map((claim) => claim.name));
    return async (
      creation: Extract<WorkerAction, { kind: 'create-worker' }>,
      signal: AbortSignal,
    ): Promise<void> => {
      const blueprint = await blueprints?.of(creation.revision, signal);
      if (blueprint !== undefined) await createWorker(creation, facts, claims, blueprint, client, signal);
    };
  }

  /** Writes this part of the status before the rest of it is known. */
  async #store(
    own: Partial<NonNullable<NodeSet['status']>>,
    conditions: readonly Condition[],
    acting: NodeSetActing,
  ): Promise<void> {
    const { cache, client } = this.#manager;
    const current: Live<NodeSet> | undefined = cache.get(nodeSets, acting.object.metadata);
    if (current === undefined) return;
    const { conditions: _conditions, observedGeneration: _generation, ...fields } = current.status ?? {};
    await recordStatus(nodeSets, current, { fields: { ...fields, ...own }, conditions }, client, acting);
  }
}

const keyOf = ({ metadata: { namespace, name } }: NodeSet): string => `${namespace}/${name}`;

/** A log is JSON, which has no maps. */
function forLog(action: WorkerAction): object {
  return action.kind === 'mirror-state'
    ? { ...action, conditions: Object.fromEntries(action.conditions) }
    : action;
}
