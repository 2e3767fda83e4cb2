/** Questions every controller asks about pods and owners. */
import type { AnyObject, OwnerReference, Pod, PodCondition } from './objects.ts';

export const condition = (pod: Pod, type: string): PodCondition | undefined =>
  pod.status?.conditions?.find((entry) => entry.type === type);

export const isReady = (pod: Pod): boolean => condition(pod, 'Ready')?.status === 'True';

export const isTerminating = (object: AnyObject): boolean => object.metadata.deletionTimestamp !== undefined;

export const isFinished = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isTerminating(pod);

/** Ready for at least `minReadySeconds`. A Ready condition without a transition time counts from the beginning. */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  if (!isReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = condition(pod, 'Ready')?.lastTransitionTime;
  return since !== undefined && since !== null && Date.parse(since) + minReadySeconds * 1000 <= now;
}

export const controllerOf = (object: AnyObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((owner) => owner.controller === true);

export const isControlledBy = (object: AnyObject, owner: AnyObject): boolean =>
  controllerOf(object)?.uid === owner.metadata.uid;

export function controllerReference(owner: AnyObject, apiVersion: string, kind: string): OwnerReference {
  return {
    apiVersion,
    kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
