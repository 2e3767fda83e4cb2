/** Carries out the plan of a StatefulSet. */
import { AlreadyExistsError, draftOf, type Manager } from '@slurm-operator/kube';
import { selectorMatches } from '@slurm-operator/kubernetes-values';
import { claims, controllerRevisions, pods, type StatefulSet, statefulSets } from '../../objects/objects.ts';
import { isControlledBy } from '../../objects/pods.ts';
import { adopt, isOrphan, podsFor, release } from '../pod-ownership.ts';
import { writeStatus } from '../write-status.ts';
import { type Action, planStatefulSet, setReference } from './plan.ts';

export function addStatefulSetController(manager: Manager): void {
  const { cache, client, recorder } = manager;
  manager
    .controller('statefulset')
    .for(statefulSets)
    .owns(pods)
    .owns(controllerRevisions)
    .watches(pods, (pod) =>
      isOrphan(pod)
        ? cache
            .list(statefulSets, { namespace: pod.metadata.namespace ?? '' })
            .filter((set) => selectorMatches(set.spec.selector, pod.metadata.labels))
            .map((set) => set.metadata)
        : [],
    )
    .watches(claims, () => [])
    .reconcile(async ({ namespace, name }, { signal, clock }) => {
      const set = cache.get(statefulSets, { namespace, name });
      if (set === undefined) return;
      const plan = planStatefulSet(
        {
          set,
          pods: podsFor(manager, set),
          revisions: cache
            .list(controllerRevisions, { namespace: namespace ?? '' })
            .filter((revision) => isControlledBy(revision, set)),
          claims: new Map(
            cache.list(claims, { namespace: namespace ?? '' }).map((claim) => [claim.metadata.name, claim]),
          ),
        },
        clock.now(),
      );
      try {
        for (const action of plan.actions) await act(set, action, signal);
      } finally {
        // Also while a quota or a policy refuses pods: the status says how many there are.
        await writeStatus(client, statefulSets, set, plan.status, { signal });
      }
      return plan.checkAgainInSeconds === undefined
        ? undefined
        : { requeueAfter: plan.checkAgainInSeconds * 1000 };
    });

  async function act(set: StatefulSet, action: Action, signal: AbortSignal): Promise<void> {
    const { namespace } = set.metadata;
    switch (action.do) {
      case 'adopt':
        return adopt(client, action.pod, setReference(set), signal);
      case 'release':
        return release(client, action.pod, set, signal);
      case 'createClaim':
        await client.create(claims, draftOf(claims, action.claim), { signal }).catch(ignoreExisting);
        return;
      case 'ownClaim':
        await client.mergePatch(
          claims,
          action.claim.metadata,
          { metadata: { ownerReferences: action.owners.length === 0 ? null : action.owners } },
          { signal },
        );
        return;
      case 'createPod':
        await client.create(pods, draftOf(pods, action.pod), { signal }).then(
          () =>
            recorder.normal(
              set,
              'SuccessfulCreate',
              `create Pod ${action.pod.metadata.name} in StatefulSet ${set.metadata.name} successful`,
            ),
          (error: unknown) => {
            // Another plan, or a pod that is still going away, has the name: the next event tells.
            if (error instanceof AlreadyExistsError) return;
            recorder.warning(
              set,
              'FailedCreate',
              `create Pod ${action.pod.metadata.name} in StatefulSet ${set.metadata.name} failed error: ${(error as Error).message}`,
            );
            throw error;
          },
        );
        return;
      case 'deletePod':
        await client.delete(pods, action.pod.metadata, { uid: action.pod.metadata.uid, signal });
        recorder.normal(
          set,
          'SuccessfulDelete',
          `delete Pod ${action.pod.metadata.name} in StatefulSet ${set.metadata.name} successful`,
        );
        return;
      case 'createRevision':
        await client
          .create(controllerRevisions, draftOf(controllerRevisions, action.revision.object), { signal })
          .catch(ignoreExisting);
        return;
      case 'renumberRevision':
        await client.mergePatch(
          controllerRevisions,
          { namespace, name: action.name },
          { revision: action.revision },
          { signal },
        );
        return;
      case 'deleteRevision':
        await client.delete(controllerRevisions, { namespace, name: action.name }, { signal });
    }
  }
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof AlreadyExistsError)) throw error;
}
