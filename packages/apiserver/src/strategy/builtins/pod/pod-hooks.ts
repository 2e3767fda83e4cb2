/** What is special about Pods. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { forbiddenField } from '../../../api/fault.ts';
import { typed } from '../../../api/typed.ts';
import { type KubeObject, timestamp } from '../../../api/types.ts';
import type { ResourceHooks } from '../../../resource/resource-definition.ts';
import { defaultPod } from './default-pod-spec.ts';
import { warnOfPod } from './pod-warnings.ts';
import { podOnlyContainerFaults } from './validate-container.ts';
import { validatePodSpec } from './validate-pod-spec.ts';
import { validatePodStatus } from './validate-pod-status.ts';
import { validatePodUpdate } from './validate-pod-update.ts';

export function asPod(object: KubeObject): IPod & KubeObject {
  return typed<IPod & KubeObject>(object);
}

export const podHooks: ResourceHooks = {
  default(object) {
    const pod = asPod(object);
    if (pod.spec) defaultPod(pod.spec);
    syncPodIPs(pod);
  },
  prepareForCreate(object, { parts }) {
    const pod = asPod(object);
    if (!pod.spec) return;
    pod.status = { phase: 'Pending', qosClass: qosClass(pod.spec) };
    if (pod.spec.schedulingGates?.length)
      pod.status.conditions = [gatedCondition(timestamp(parts.environment.now()))];
  },
  validate(object, context, old) {
    const { spec } = asPod(object);
    if (!spec) return [];
    // A changed pod gives no warnings: programs change pods, not people.
    if (old === undefined) warnOfPod(context, '', asPod(object));
    const faults = validatePodSpec(spec, 'spec');
    for (const list of ['containers', 'initContainers'] as const)
      faults.push(...podOnlyContainerFaults(spec[list] ?? [], `spec.${list}`));
    if (old === undefined && spec.nodeName && spec.schedulingGates?.length)
      faults.push(
        forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'),
      );
    if (old === undefined && spec.ephemeralContainers?.length)
      faults.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
    return faults;
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

type PodCondition = NonNullable<NonNullable<IPod['status']>['conditions']>[number];

function gatedCondition(now: string): PodCondition {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  } as unknown as PodCondition; // its type has no null, which the server writes for a time that is not set
}

export const podStatusHooks: Pick<ResourceHooks, 'prepareForUpdate' | 'validateUpdate'> = {
  validateUpdate: (object, old) => validatePodStatus(asPod(object), asPod(old)),
  prepareForUpdate(object, old) {
    const pod = asPod(object);
    const before = asPod(old);
    if (pod.status && pod.status.qosClass === undefined && before.status?.qosClass !== undefined)
      pod.status.qosClass = before.status.qosClass;
    const owners = before.metadata.ownerReferences;
    if (owners === undefined) delete pod.metadata.ownerReferences;
    else pod.metadata.ownerReferences = structuredClone(owners);
  },
};

/** podIP equals the first of podIPs; a client that knows one of them sets both. */
function syncPodIPs({ status }: IPod): void {
  const [first] = status?.podIPs ?? [];
  if (status?.podIP && first?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }];
  else if (status && first?.ip) status.podIP = first.ip;
}

/** The quality-of-service class of a pod: how sure it can be of what it asked for. */
const COUNTED = ['cpu', 'memory'] as const;

/** Guaranteed: every container is limited in cpu and memory to just what it asks for. BestEffort: none asks at all. */
export function qosClass(spec: IPodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  // Resources of the pod as a whole take the place of those of its containers.
  const containers = spec.resources
    ? [{ resources: spec.resources }]
    : [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  let anything = false;
  let guaranteed = true;
  for (const { resources } of containers)
    for (const name of COUNTED) {
      const request = amount(resources?.requests?.[name]);
      const limit = amount(resources?.limits?.[name]);
      if (request > 0n || limit > 0n) anything = true;
      if (limit === 0n || request !== limit) guaranteed = false;
    }
  if (!anything) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function amount(quantity: string | number | undefined): bigint {
  return quantity === undefined ? 0n : (Quantity.parse(quantity)?.nanos ?? 0n);
}
