/**
 * The Cluster controller: keeps one connection per Cluster, finds out whether Slurm answers, and reports it.
 * A Cluster has no finalizer: what it holds is in memory, and is removed with it or with this program.
 */
import { clusters } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Reconcile,
  type ReconcilerManager,
} from '../../framework/define-reconciler.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import type { SlurmPatience } from '../../slurm-connection/slurm-connection.ts';
import { ClusterActor } from './act.ts';
import { ClusterObserver, type ConnectionSettings, type ObservedCluster } from './observe.ts';
import { answerOf, type ClusterPlan, emptyMemory, nextLook, nextMemory, planCluster } from './plan.ts';
import { clusterStatus } from './status.ts';

export interface ClusterOptions extends ConnectionSettings {
  readonly slurm?: SlurmPatience;
}

export function clusterReconciler(
  manager: ReconcilerManager,
  pool: ConnectionPool,
  options: ClusterOptions,
): Reconcile {
  const observer = new ClusterObserver(manager, pool, options);
  const actor = new ClusterActor(pool, observer, options.slurm);
  return defineReconciler(manager, {
    resource: clusters,
    memory: { initial: emptyMemory, next: nextMemory },
    observe: (cluster, observing) => observer.observe(cluster, observing),
    plan: (observed: ObservedCluster, now: number): ClusterPlan =>
      planCluster(observed, now, { backoff: options.slurm?.backoff }),
    act: (action, acting) => actor.act(action, acting),
    status: (outcome) => clusterStatus(answerOf(outcome), outcome.observed),
    report: (outcome, log) => {
      const answer = answerOf(outcome);
      const { plan, observed } = outcome;
      if ('class' in answer)
        log.warn({ reason: answer.reason, failures: plan.retry.count }, `slurm client: ${answer.message}`);
      else if (!observed.memory.isConnected) log.info({ server: answer.server }, 'slurm client: connected');
    },
    lookAgainAt: ({ observed, plan, notes }) => nextLook(plan, notes, observed.memory),
    soonest: 0,
    forget: ({ key }) => {
      observer.forget(key);
      return pool.remove(key);
    },
  });
}
