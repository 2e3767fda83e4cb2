/** Finding, adopting and releasing the pods of a workload. */
import type { Client, Manager } from '@slurm-operator/kube';
import type { AnyObject, OwnerReference, Pod } from '../objects/objects.ts';
import { pods } from '../objects/objects.ts';
import { controllerOf } from '../objects/pods.ts';

const byController = 'controller';
const orphans = 'orphans';

/** Indexes that answer "whose pods" without looking at all of them. */
export function indexPods(manager: Manager): void {
  const informer = manager.cache.informer(pods);
  informer.addIndex(byController, (pod) => {
    const owner = controllerOf(pod);
    return owner === undefined ? [] : [owner.uid];
  });
  informer.addIndex(orphans, (pod) =>
    controllerOf(pod) === undefined ? [pod.metadata.namespace ?? ''] : [],
  );
}

/** The pods that the owner controls, and those of its namespace without a controller. */
export function podsFor(manager: Manager, owner: AnyObject): Pod[] {
  return [
    ...manager.cache.byIndex(pods, byController, owner.metadata.uid),
    ...manager.cache.byIndex(pods, orphans, owner.metadata.namespace ?? ''),
  ];
}

export async function adopt(
  client: Client,
  pod: Pod,
  owner: OwnerReference,
  signal: AbortSignal,
): Promise<void> {
  await client.mergePatch(
    pods,
    pod.metadata,
    {
      metadata: { uid: pod.metadata.uid, ownerReferences: [...(pod.metadata.ownerReferences ?? []), owner] },
    },
    { signal },
  );
}

export async function release(
  client: Client,
  pod: Pod,
  owner: AnyObject,
  signal: AbortSignal,
): Promise<void> {
  const left = (pod.metadata.ownerReferences ?? []).filter((entry) => entry.uid !== owner.metadata.uid);
  await client.mergePatch(
    pods,
    pod.metadata,
    { metadata: { uid: pod.metadata.uid, ownerReferences: left.length === 0 ? null : left } },
    { signal },
  );
}

/** Orphans matter to every workload of their namespace: a change of one wakes those whose selector it may match. */
export const isOrphan = (pod: AnyObject): boolean => controllerOf(pod) === undefined;
