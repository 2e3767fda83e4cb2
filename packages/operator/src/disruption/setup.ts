/** Watches PodDisruptionBudgets over workers, and touches one that Kubernetes has stopped syncing. */
import {
  controllerOf,
  type Live,
  type Manager,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods,
} from '@slurm-operator/kube';
import { selectorMatches } from '@slurm-operator/kubernetes-values';
import { planResync, resyncAnnotation } from './plan-resync.ts';

export function setupDisruptionBudgets(manager: Manager): void {
  const { cache, client, recorder } = manager;
  manager
    .controller('disruption-budget-resync')
    .for(podDisruptionBudgets)
    .options({ workers: 1 })
    .reconcile(async ({ namespace, name }, { clock, signal, log }) => {
      const budget = cache.get(podDisruptionBudgets, { namespace, name });
      if (budget === undefined || budget.metadata.deletionTimestamp !== undefined) return;
      const plan = planResync(budget, clock.now());
      if (plan.kind === 'synced' || !coversWorkers(budget, cache.list(pods, { namespace: namespace ?? '' })))
        return;
      if (plan.kind === 'wait') return { requeueAfter: plan.forMs };
      if (plan.kind === 'give-up') {
        recorder.warning(
          budget,
          'DisruptionBudgetNotSynced',
          `Kubernetes cannot sync this budget, so it allows no eviction: ${plan.message}. Updating it did not help: check that the controller manager may read the scale of the owner of its pods`,
        );
        return;
      }
      const metadata = { uid: budget.metadata.uid, annotations: { [resyncAnnotation]: plan.value } };
      await client.mergePatch(podDisruptionBudgets, budget.metadata, { metadata }, { signal });
      log.info({ budget: name, touch: plan.count, reason: plan.message }, 'budget touched');
      recorder.normal(
        budget,
        'DisruptionBudgetTouched',
        `Kubernetes could not sync this budget, so it allows no eviction: ${plan.message}. The operator updated it, so that Kubernetes retries`,
      );
      return undefined;
    });
}

function coversWorkers({ spec }: Live<PodDisruptionBudget>, among: readonly Live<Pod>[]): boolean {
  return among.some(
    (pod) => controllerOf(pod)?.kind === 'NodeSet' && selectorMatches(spec?.selector, pod.metadata.labels),
  );
}
