/** Carries out the plan of a ReplicaSet, pods in parallel. */
import { draftOf, type Manager } from '@slurm-operator/kube';
import { selectorMatches } from '@slurm-operator/kubernetes-values';
import { inBatches } from '../../in-batches.ts';
import { pods, type ReplicaSet, replicaSets } from '../../objects/objects.ts';
import { controllerReference } from '../../objects/pods.ts';
import { adopt, isOrphan, podsFor, release } from '../pod-ownership.ts';
import { writeStatus } from '../write-status.ts';
import { type Action, planReplicaSet } from './plan.ts';

export function addReplicaSetController(manager: Manager): void {
  const { cache, client, recorder } = manager;
  manager
    .controller('replicaset')
    .for(replicaSets)
    .owns(pods)
    .watches(pods, (pod) =>
      isOrphan(pod)
        ? cache
            .list(replicaSets, { namespace: pod.metadata.namespace ?? '' })
            .filter((set) => selectorMatches(set.spec.selector, pod.metadata.labels))
            .map((set) => set.metadata)
        : [],
    )
    .reconcile(async ({ namespace, name }, { signal, clock }) => {
      const set = cache.get(replicaSets, { namespace, name });
      if (set === undefined) return;
      const plan = planReplicaSet({ set, pods: podsFor(manager, set) }, clock.now());
      const tell = () => writeStatus(client, replicaSets, set, plan.status, { signal });
      try {
        await inBatches(plan.actions, (action) => act(set, action, signal));
      } catch (error) {
        // A quota or a policy refuses pods for as long as it likes: the status says meanwhile how many there are.
        await tell();
        throw error;
      }
      // The status describes the cache, so it waits for the events of the last writes.
      if (plan.actions.length === 0) await tell();
      return plan.checkAgainInSeconds === undefined
        ? undefined
        : { requeueAfter: plan.checkAgainInSeconds * 1000 };
    });

  async function act(set: ReplicaSet, action: Action, signal: AbortSignal): Promise<void> {
    switch (action.do) {
      case 'adopt':
        return adopt(client, action.pod, controllerReference(set, 'apps/v1', 'ReplicaSet'), signal);
      case 'release':
        return release(client, action.pod, set, signal);
      case 'createPod':
        await client.create(pods, draftOf(pods, action.pod), { signal }).then(
          (pod) => recorder.normal(set, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`),
          (error: unknown) => {
            recorder.warning(set, 'FailedCreate', `Error creating: ${(error as Error).message}`);
            throw error;
          },
        );
        return;
      case 'deletePod':
        await client.delete(pods, action.pod.metadata, { uid: action.pod.metadata.uid, signal });
        recorder.normal(set, 'SuccessfulDelete', `Deleted pod: ${action.pod.metadata.name}`);
    }
  }
}
