/** Keeps the status of PodDisruptionBudgets, which the eviction of a pod asks. */
import { type Manager } from '@slurm-operator/kube';
import { selectorMatches } from '@slurm-operator/kubernetes-values';
import {
  deployments,
  disruptionBudgets,
  jobs,
  type Pod,
  pods,
  replicaSets,
  statefulSets,
} from '../../objects/objects.ts';
import { controllerOf } from '../../objects/pods.ts';
import { writeStatus } from '../write-status.ts';
import { CustomScales, UnknownKindError } from './custom-scale.ts';
import { countsByScale, failSafe, planDisruption } from './plan.ts';

const builtIn = new Set(['StatefulSet', 'ReplicaSet', 'Job']);

export function addDisruptionController(manager: Manager): void {
  const { cache, client } = manager;
  for (const resource of [statefulSets, replicaSets, deployments, jobs])
    cache.informer(resource as typeof jobs);
  const scales = new CustomScales(client, manager.clock);
  const covering = (pod: Pod) =>
    cache
      .list(disruptionBudgets, { namespace: pod.metadata.namespace ?? '' })
      .filter((budget) => selectorMatches(budget.spec.selector, pod.metadata.labels))
      .map((budget) => budget.metadata);
  const ofNamespace = (namespace: string | undefined) =>
    cache.list(disruptionBudgets, { namespace: namespace ?? '' }).map((budget) => budget.metadata);
  manager
    .controller('disruption')
    .for(disruptionBudgets)
    .watches(pods, covering)
    .watches(statefulSets, (set) => ofNamespace(set.metadata.namespace))
    .watches(replicaSets, (set) => ofNamespace(set.metadata.namespace))
    .reconcile(async ({ namespace, name }, { signal, clock }) => {
      const budget = cache.get(disruptionBudgets, { namespace, name });
      if (budget === undefined) return;
      const all = cache.list(pods, { namespace: namespace ?? '' });
      const custom = all.flatMap((pod) => {
        const owner = controllerOf(pod);
        return owner === undefined ||
          builtIn.has(owner.kind) ||
          !selectorMatches(budget.spec.selector, pod.metadata.labels)
          ? []
          : [owner];
      });
      try {
        if (custom.length > 0 && countsByScale(budget)) await scales.learn(custom, namespace, signal);
      } catch (error) {
        if (!(error instanceof UnknownKindError)) throw error;
        // No disruption is allowed until the budget or one of its pods changes.
        const failed = failSafe(budget, error.message, clock.now());
        await writeStatus(client, disruptionBudgets, budget, failed, { signal, exact: true });
        return undefined;
      }
      const status = planDisruption({ budget, pods: all, scaleOf }, clock.now());
      // Evictions write the same status: neither may undo the other.
      await writeStatus(client, disruptionBudgets, budget, status, { signal, exact: true });
      // Nothing tells us when an owner of a custom kind is scaled: look again now and then.
      return custom.length > 0 || Object.keys(status.disruptedPods ?? {}).length > 0
        ? { requeueAfter: 10_000 }
        : undefined;
    });

  /** The wanted size of whatever made the pod; a ReplicaSet of a Deployment counts as the Deployment. */
  function scaleOf(pod: Pod): { uid: string; replicas: number } | undefined {
    const owner = controllerOf(pod);
    if (owner === undefined) return undefined;
    const ref = { namespace: pod.metadata.namespace, name: owner.name };
    if (owner.kind === 'StatefulSet') return size(cache.get(statefulSets, ref));
    if (owner.kind !== 'ReplicaSet') return scales.get(owner.uid);
    const set = cache.get(replicaSets, ref);
    const parent = set === undefined ? undefined : controllerOf(set);
    if (parent?.kind !== 'Deployment') return size(set);
    return size(cache.get(deployments, { namespace: ref.namespace, name: parent.name }));
  }
}

function size(owner: { metadata: { uid: string }; spec: { replicas?: number } } | undefined) {
  return owner === undefined ? undefined : { uid: owner.metadata.uid, replicas: owner.spec.replicas ?? 1 };
}
