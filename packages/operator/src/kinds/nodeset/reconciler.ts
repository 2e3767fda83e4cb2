/** The NodeSet controller: slurmd workers, each a pod and a Slurm node. */
import type { Manager } from '@slurm-operator/kube';
import { nodeSets } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Reconcile,
  type ReconcilerManager,
} from '../../framework/define-reconciler.ts';
import type { GatewayFinder } from '../../slurm-connection/slurm-gateway.ts';
import { type ActorOptions, NodeSetActor } from './act/carry-out.ts';
import { nodeSetEvents } from './events.ts';
import { NodeSetMetrics } from './metrics.ts';
import { NodeSetObserver, type ObserverOptions } from './observe/observe.ts';
import { emptyMemory, restLeft, withNotes } from './plan/memory.ts';
import { planNodeSet } from './plan/plan.ts';
import { nodeSetReport } from './status/report.ts';

export interface NodeSetOptions extends ObserverOptions, ActorOptions {
  /** Events may be written on Kubernetes Nodes. */
  readonly nodeEvents: boolean;
}

/** Workers are created in several rounds: the next one follows soon. */
const soonest = 100;

export function nodeSetReconciler(
  manager: ReconcilerManager & Pick<Manager, 'metrics'>,
  gateways: GatewayFinder,
  options: NodeSetOptions,
): Reconcile {
  const metrics = new NodeSetMetrics(manager.metrics.registry);
  const observer = new NodeSetObserver(manager.cache, gateways, options);
  const actor = new NodeSetActor(manager, (nodeSet) => observer.gatewayOf(nodeSet), options, metrics);
  return defineReconciler(manager, {
    resource: nodeSets,
    finalizes: true,
    soonest,
    memory: {
      initial: emptyMemory,
      restLeft,
      next: ({ memory }, notes) => withNotes(memory, notes),
    },
    observe: (nodeSet, observing) => observer.observe(nodeSet, observing),
    plan: planNodeSet,
    act: (action, acting) => actor.act(action, acting),
    observeAgain: (nodeSet, before, observing) => observer.observeAgain(nodeSet, before, observing),
    status: nodeSetReport,
    events: (outcome, report) => nodeSetEvents(outcome, report, options),
    report: ({ after, plan, now }) => metrics.show(after, plan.workers, now),
    forget: ({ key, namespace = '', name }) => {
      observer.forget(key);
      actor.forget(key);
      metrics.forget({ namespace, name });
    },
  });
}
