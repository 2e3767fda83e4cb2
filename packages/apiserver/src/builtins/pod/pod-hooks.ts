/** What is special about Pods. */
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { ResourceHooks } from '../../registry/resource-definition.ts';
import type { KubeObject } from '../../types.ts';
import { defaultPod } from './default-pod-spec.ts';
import { qosClass } from './quality-of-service.ts';
import { validatePodSpec } from './validate-pod-spec.ts';
import { validatePodUpdate } from './validate-pod-update.ts';

export function asPod(object: KubeObject): IPod & KubeObject {
  return object as unknown as IPod & KubeObject;
}

export const podHooks: ResourceHooks = {
  default(object) {
    const pod = asPod(object);
    if (pod.spec) defaultPod(pod.spec);
    syncPodIPs(pod);
  },
  prepareForCreate(object) {
    const pod = asPod(object);
    if (pod.spec) pod.status = { phase: 'Pending', qosClass: qosClass(pod.spec) };
  },
  validate(object) {
    const { spec } = asPod(object);
    return spec ? validatePodSpec(spec, 'spec') : [];
  },
  validateUpdate(object, old) {
    return validatePodUpdate(asPod(object), asPod(old));
  },
  gracePeriod(object, requested) {
    const { spec, status } = asPod(object);
    // Nothing runs that could be asked to stop: not bound yet, or over already.
    if (!spec?.nodeName || status?.phase === 'Succeeded' || status?.phase === 'Failed') return 0;
    const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
    return seconds < 0 ? 1 : seconds;
  },
};

export const podStatusHooks: Pick<ResourceHooks, 'prepareForUpdate'> = {
  prepareForUpdate(object, old) {
    const pod = asPod(object);
    const before = asPod(old);
    if (pod.status && before.status?.qosClass !== undefined) pod.status.qosClass = before.status.qosClass;
    const owners = before.metadata.ownerReferences;
    if (owners === undefined) delete pod.metadata.ownerReferences;
    else pod.metadata.ownerReferences = structuredClone(owners);
  },
};

/** podIP and the first of podIPs are one fact; whoever knows only the first field sets both. */
function syncPodIPs({ status }: IPod): void {
  if (!status?.podIP) return;
  if (status.podIPs?.[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }];
}
