/** The quality-of-service class of a pod: how sure it can be of what it asked for. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';

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
