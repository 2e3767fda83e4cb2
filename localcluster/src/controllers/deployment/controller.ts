/** Carries out the plan of a Deployment. */
import { AlreadyExistsError, draftOf, type Manager } from '@slurm-operator/kube';
import { type Deployment, deployments, replicaSets } from '../../objects/objects.ts';
import { controllerOf, controllerReference, isControlledBy } from '../../objects/pods.ts';
import { writeStatus } from '../write-status.ts';
import { type Action, planDeployment } from './plan.ts';

export function addDeploymentController(manager: Manager): void {
  const { cache, client, recorder } = manager;
  manager
    .controller('deployment')
    .for(deployments)
    .owns(replicaSets)
    .reconcile(async ({ namespace, name }, { signal, clock }) => {
      const deployment = cache.get(deployments, { namespace, name });
      if (deployment === undefined) return;
      const sets = cache
        .list(replicaSets, { namespace: namespace ?? '' })
        .filter((set) => isControlledBy(set, deployment) || controllerOf(set) === undefined);
      const plan = planDeployment({ deployment, sets }, clock.now());
      for (const action of plan.actions) await act(deployment, action, signal);
      const now = cache.get(deployments, { namespace, name });
      if (now !== undefined && now.metadata.uid === deployment.metadata.uid)
        await writeStatus(client, deployments, now, plan.status, { signal, annotations: plan.annotations });
      // A rollout that makes no progress is noticed by the clock alone.
      const deadline = deployment.spec.progressDeadlineSeconds;
      return deadline === undefined ? undefined : { requeueAfter: (deadline + 1) * 1000 };
    });

  async function act(deployment: Deployment, action: Action, signal: AbortSignal): Promise<void> {
    switch (action.do) {
      case 'adopt': {
        const owner = controllerReference(deployment, 'apps/v1', 'Deployment');
        const { metadata } = action.set;
        await client.mergePatch(
          replicaSets,
          metadata,
          { metadata: { uid: metadata.uid, ownerReferences: [...(metadata.ownerReferences ?? []), owner] } },
          { signal },
        );
        return;
      }
      case 'createSet':
        await client
          .create(replicaSets, draftOf(replicaSets, action.set), { signal })
          .catch((error: unknown) => {
            if (!(error instanceof AlreadyExistsError)) throw error;
          });
        recorder.normal(deployment, 'ScalingReplicaSet', `Scaled up replica set ${action.name}`);
        return;
      case 'updateSet': {
        const { metadata, spec } = action.set;
        await client.mergePatch(
          replicaSets,
          metadata,
          {
            metadata: { uid: metadata.uid, annotations: action.annotations },
            spec: { replicas: action.replicas },
          },
          { signal },
        );
        const before = spec.replicas ?? 1;
        if (before !== action.replicas)
          recorder.normal(
            deployment,
            'ScalingReplicaSet',
            `Scaled ${before < action.replicas ? 'up' : 'down'} replica set ${metadata.name} from ${before} to ${action.replicas}`,
          );
        return;
      }
      case 'deleteSet':
        await client.delete(replicaSets, action.set.metadata, { uid: action.set.metadata.uid, signal });
    }
  }
}
