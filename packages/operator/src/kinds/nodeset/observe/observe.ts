/** Gathers everything that the plan of a NodeSet depends on. Only a reservation is asked for over the network. */

import { type NodeSet, resourceName } from '@slurm-operator/api';
import {
  type Cache,
  controllerOf,
  controllerRevisions,
  explain,
  type Live,
  podDisruptionBudgets,
  services,
} from '@slurm-operator/kube';
import { expandHostlist } from '@slurm-operator/slurm';
import type { Observing } from '../../../framework/define-reconciler.ts';
import type { GatewayFinder, NodesView, SlurmGateway } from '../../../slurm-connection/slurm-gateway.ts';
import { differs } from '../autoscale/sleeping-records.ts';
import { isPoweredDown } from '../autoscale/slot-states.ts';
import type { NodeConditionRule } from '../model/node-conditions.ts';
import { hasDrain } from '../model/node-state.ts';
import type { Observed } from '../model/observed.ts';
import { recordedRevision } from '../objects/revision.ts';
import { madeWindow, type ReservationAnswer, wantedWindow } from '../plan/maintenance-window.ts';
import type { NodeSetMemory } from '../plan/memory.ts';
import type { ObservedNodeSet } from '../plan/plan.ts';
import { type ObservedRevisions, revisionName } from '../plan/revisions.ts';
import type { ObservedShared } from '../plan/shared-objects.ts';
import { specProblemsOf } from './name-conflict.ts';
import { controllerOfSet, observeFacts, revisionsOf } from './observe-facts.ts';
import { SeenBefore } from './seen-before.ts';

export interface ObserverOptions {
  /** Node conditions whose text becomes the reason of a drain when the Node is cordoned. */
  readonly propagatedConditions: readonly NodeConditionRule[];
}

const notConnected: NodesView = { kind: 'unknown', since: 0, why: 'there is no connection to Slurm yet' };

export class NodeSetObserver {
  readonly #cache: Cache;
  readonly #gateways: GatewayFinder;
  readonly #options: ObserverOptions;
  /** By key: what was derived from objects that have not changed since. */
  readonly #seen = new Map<string, { readonly uid: string; readonly seen: SeenBefore }>();

  constructor(cache: Cache, gateways: GatewayFinder, options: ObserverOptions) {
    this.#cache = cache;
    this.#gateways = gateways;
    this.#options = options;
  }

  gatewayOf({ metadata, spec }: NodeSet): SlurmGateway | undefined {
    return this.#gateways(metadata.namespace, spec.controllerRef.name);
  }

  async observe(object: Live<NodeSet>, observing: Observing<NodeSetMemory>): Promise<ObservedNodeSet> {
    const nodeSet = asNodeSet(object);
    const reservation = await askReservation(nodeSet, this.gatewayOf(nodeSet), observing.signal);
    const observed = this.#fromCaches(object, reservation, observing);
    if (!mayDeleteRecords(observed.facts)) return observed;
    const pendingNeeds = await this.gatewayOf(nodeSet)?.pendingNeeds(observing.signal);
    // The lists of before this question show no job that was submitted since; a node that is drained takes none.
    return { ...observed, facts: { ...observed.facts, pendingNeeds } };
  }

  observeAgain(
    object: Live<NodeSet>,
    { reservation, facts: { pendingNeeds } }: ObservedNodeSet,
    observing: Observing<NodeSetMemory>,
  ): ObservedNodeSet {
    const observed = this.#fromCaches(object, reservation, observing);
    return { ...observed, facts: { ...observed.facts, pendingNeeds } };
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }

  #fromCaches(
    object: Live<NodeSet>,
    reservation: ReservationAnswer,
    { memory, now }: Observing<NodeSetMemory>,
  ): ObservedNodeSet {
    const cache = this.#cache;
    const nodeSet = asNodeSet(object);
    const gateway = this.gatewayOf(nodeSet);
    const specProblems = specProblemsOf(cache, nodeSet);
    const facts = observeFacts(
      nodeSet,
      gateway?.view() ?? notConnected,
      memory,
      {
        cache,
        propagatedConditions: this.#options.propagatedConditions,
        release: gateway?.release(),
        specProblems,
        seen: this.#seenOf(nodeSet),
      },
      now(),
    );
    return {
      nodeSet,
      controller: controllerOfSet(cache, nodeSet),
      facts,
      specProblems,
      shared: observeShared(cache, nodeSet),
      revisions: observeRevisions(cache, nodeSet, facts.updateRevision),
      reservation,
      memory,
    };
  }

  #seenOf({ metadata: { namespace, name, uid } }: NodeSet): SeenBefore {
    const key = `${namespace}/${name}`;
    const known = this.#seen.get(key);
    if (known?.uid === uid) return known.seen;
    const seen = new SeenBefore();
    this.#seen.set(key, { uid, seen });
    return seen;
  }
}

/** A record of this set has no worker, and starts no job: whether pending jobs need it is asked only then. */
function mayDeleteRecords({ slurm, workers, autoscale }: Observed): boolean {
  if (slurm.kind === 'unknown') return false;
  const names = new Set(workers.map(({ slurmName }) => slurmName));
  return slurm.nodes
    .values()
    .some(
      (node) =>
        node.ours &&
        !names.has(node.name) &&
        (hasDrain(node) ||
          node.base === 'DOWN' ||
          (autoscale !== undefined && isPoweredDown(node) && differs(node, autoscale))),
    );
}

/** Builders and plans take the plain type; nothing of them writes to it. */
const asNodeSet = (object: Live<NodeSet>): NodeSet => object as unknown as NodeSet;

function observeShared(cache: Cache, { metadata: { namespace }, spec }: NodeSet): ObservedShared {
  const controller = spec.controllerRef.name;
  const service = resourceName.workers(controller);
  const budget = resourceName.workersBudget(controller);
  return {
    service: cache.get(services, { namespace, name: service }),
    budget: cache.get(podDisruptionBudgets, { namespace, name: budget }),
  };
}

function observeRevisions(cache: Cache, nodeSet: NodeSet, update: string): ObservedRevisions {
  const { namespace, name } = nodeSet.metadata;
  const newest = cache.get(controllerRevisions, { namespace, name: revisionName(name, update) });
  return {
    ours: revisionsOf(cache, nodeSet).map(recordedRevision),
    ofNewestName: newest && { uid: newest.metadata.uid, isOwned: controllerOf(newest) !== undefined },
  };
}

/** Asked only while there is a window, or was one. An outage is an answer, too. */
async function askReservation(
  nodeSet: NodeSet,
  gateway: SlurmGateway | undefined,
  signal: AbortSignal,
): Promise<ReservationAnswer> {
  const name = (wantedWindow(nodeSet) ?? madeWindow(nodeSet))?.name;
  if (name === undefined) return undefined;
  if (gateway === undefined) return { kind: 'unknown', why: 'there is no connection to Slurm' };
  try {
    const found = await gateway.reservation(name, signal);
    if (found === undefined) return { kind: 'known', reservation: undefined };
    const { startsAt, endsAt, nodes } = found;
    return {
      kind: 'known',
      reservation: { name: found.name, startsAt, endsAt, nodes: new Set(expandHostlist(nodes)) },
    };
  } catch (error) {
    if (signal.aborted) throw error;
    return { kind: 'unknown', why: explain(error) };
  }
}
