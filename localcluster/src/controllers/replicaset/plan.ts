/** What a ReplicaSet wants done next: own the right pods, and have just as many as it says. */
import { selectorMatches } from '@slurm-operator/kubernetes-values';
import type { Pod, PodSpec, ReplicaSet } from '../../objects/objects.ts';
import {
  controllerOf,
  controllerReference,
  isActive,
  isAvailable,
  isControlledBy,
  isReady,
  isTerminating,
} from '../../objects/pods.ts';

export interface Observed {
  readonly set: ReplicaSet;
  /** Every pod of the namespace that the set controls or whose labels its selector matches. */
  readonly pods: readonly Pod[];
}

export type Action =
  | { readonly do: 'adopt'; readonly pod: Pod }
  | { readonly do: 'release'; readonly pod: Pod }
  | { readonly do: 'createPod'; readonly pod: object }
  | { readonly do: 'deletePod'; readonly pod: Pod };

export type Status = NonNullable<ReplicaSet['status']>;

export interface Plan {
  readonly actions: readonly Action[];
  readonly status: Status;
  readonly checkAgainInSeconds?: number;
}

/** At most this many pods are made in one go, so that one huge set does not starve the others. */
const burst = 500;

export function planReplicaSet({ set, pods }: Observed, now: number): Plan {
  const actions: Action[] = [];
  const active: Pod[] = [];
  for (const pod of pods) {
    const fits = selectorMatches(set.spec.selector, pod.metadata.labels);
    if (isControlledBy(pod, set)) {
      if (!fits && !isTerminating(pod)) actions.push({ do: 'release', pod });
      else if (isActive(pod)) active.push(pod);
    } else if (controllerOf(pod) === undefined && fits && isActive(pod) && !isTerminating(set)) {
      actions.push({ do: 'adopt', pod });
      active.push(pod);
    }
  }

  const wanted = set.spec.replicas ?? 1;
  if (!isTerminating(set)) {
    for (let missing = Math.min(wanted - active.length, burst); missing > 0; missing--)
      actions.push({ do: 'createPod', pod: buildPod(set) });
    if (active.length > wanted)
      for (const pod of active.toSorted(leastWorthFirst).slice(0, active.length - wanted))
        actions.push({ do: 'deletePod', pod });
  }

  const minReady = set.spec.minReadySeconds ?? 0;
  const templateLabels = set.spec.template?.metadata?.labels ?? {};
  const labeled = active.filter((pod) =>
    Object.entries(templateLabels).every(([key, value]) => pod.metadata.labels?.[key] === value),
  ).length;
  const ready = active.filter(isReady).length;
  const available = active.filter((pod) => isAvailable(pod, minReady, now)).length;
  const terminating = pods.filter((pod) => isControlledBy(pod, set) && isTerminating(pod)).length;
  return {
    actions,
    status: {
      replicas: active.length,
      ...(labeled === 0 ? {} : { fullyLabeledReplicas: labeled }),
      ...(ready === 0 ? {} : { readyReplicas: ready }),
      ...(available === 0 ? {} : { availableReplicas: available }),
      terminatingReplicas: terminating,
      observedGeneration: set.metadata.generation ?? 0,
    },
    ...(ready > available ? { checkAgainInSeconds: minReady } : {}),
  };
}

function buildPod(set: ReplicaSet): object {
  const template = set.spec.template;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${set.metadata.name}-`,
      namespace: set.metadata.namespace,
      ...(template?.metadata?.labels === undefined ? {} : { labels: template.metadata.labels }),
      ...(template?.metadata?.annotations === undefined
        ? {}
        : { annotations: template.metadata.annotations }),
      ownerReferences: [controllerReference(set, 'apps/v1', 'ReplicaSet')],
    },
    spec: template?.spec as PodSpec,
  };
}

/** Which pod is missed least: unassigned before assigned, pending before running, not ready before ready, young before old. */
function leastWorthFirst(a: Pod, b: Pod): number {
  return worth(a) - worth(b) || b.metadata.creationTimestamp.localeCompare(a.metadata.creationTimestamp);
}

function worth(pod: Pod): number {
  const assigned = pod.spec.nodeName === undefined || pod.spec.nodeName === '' ? 0 : 4;
  const running = pod.status?.phase === 'Running' ? 2 : 0;
  return assigned + running + (isReady(pod) ? 1 : 0);
}
