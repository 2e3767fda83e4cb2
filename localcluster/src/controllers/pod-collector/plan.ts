/** Pods that no agent will ever end: on nodes that are gone, or out of service. Pure. */
import type { Node, Pod } from '../../objects/objects.ts';
import { isTerminating } from '../../objects/pods.ts';
import { isHealthy, isOutOfService } from '../node-lifecycle/plan.ts';

export interface Observed {
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlyMap<string, Node>;
  /** Names of nodes that have been missing long enough to be believed gone. */
  readonly gone: ReadonlySet<string>;
}

export interface Collection {
  readonly pod: Pod;
  readonly message: string;
}

export function planCollection({ pods, nodes, gone }: Observed): Collection[] {
  return pods.flatMap((pod) => {
    const name = pod.spec.nodeName ?? '';
    if (name === '')
      return isTerminating(pod) ? [{ pod, message: 'PodGC: unscheduled and terminating' }] : [];
    const node = nodes.get(name);
    if (node === undefined) return gone.has(name) ? [{ pod, message: 'PodGC: node no longer exists' }] : [];
    // The administrator vouches that the machine is off: then the pod cannot run twice.
    return isTerminating(pod) && isOutOfService(node) && !isHealthy(node)
      ? [{ pod, message: 'PodGC: node is out of service' }]
      : [];
  });
}
