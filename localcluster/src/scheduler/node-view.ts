/** A node as the scheduler sees it: what it has, and what the pods assigned to it ask for. */
import { bytes, milliCpu, quantityNumber } from '@slurm-operator/kubernetes-values';
import type { Node, Pod } from '../objects/objects.ts';

/** Amounts by resource name; cpu in thousandths of a core. */
export type Amounts = ReadonlyMap<string, number>;

export interface NodeView {
  readonly node: Node;
  readonly allocatable: Amounts;
  readonly requested: Map<string, number>;
  readonly pods: Map<string, Pod>;
}

export function viewNode(node: Node, pods: Iterable<Pod> = []): NodeView {
  const allocatable = new Map<string, number>();
  for (const [name, text] of Object.entries(node.status?.allocatable ?? {}))
    allocatable.set(name, amount(name, text));
  const view: NodeView = { node, allocatable, requested: new Map(), pods: new Map() };
  for (const pod of pods) addPod(view, pod);
  return view;
}

export function addPod(view: NodeView, pod: Pod): void {
  if (view.pods.has(pod.metadata.uid)) removePod(view, pod.metadata.uid);
  view.pods.set(pod.metadata.uid, pod);
  for (const [name, value] of requestsOf(pod))
    view.requested.set(name, (view.requested.get(name) ?? 0) + value);
}

export function removePod(view: NodeView, uid: string): void {
  const pod = view.pods.get(uid);
  if (pod === undefined) return;
  view.pods.delete(uid);
  for (const [name, value] of requestsOf(pod))
    view.requested.set(name, (view.requested.get(name) ?? 0) - value);
}

const amount = (name: string, text: string | number) =>
  name === 'cpu' ? milliCpu(text) : name === 'memory' ? bytes(text) : quantityNumber(text);

/**
 * What a pod asks for: its containers together with its sidecars, or the largest moment of its init phase, whichever
 * is more, plus the overhead of its runtime class.
 */
export function requestsOf(pod: Pod): Map<string, number> {
  const running = new Map<string, number>();
  const peak = new Map<string, number>();
  const sidecars = new Map<string, number>();
  const add = (to: Map<string, number>, requests: Readonly<Record<string, string | number>> | undefined) => {
    for (const [name, text] of Object.entries(requests ?? {}))
      to.set(name, (to.get(name) ?? 0) + amount(name, text));
  };
  const raise = (name: string, value: number) => {
    if (value > (peak.get(name) ?? 0)) peak.set(name, value);
  };
  for (const init of pod.spec.initContainers ?? []) {
    const requests = init.resources?.requests;
    if (init.restartPolicy === 'Always') {
      add(sidecars, requests);
      for (const [name, value] of sidecars) raise(name, value);
    } else
      for (const [name, text] of Object.entries(requests ?? {}))
        raise(name, amount(name, text) + (sidecars.get(name) ?? 0));
  }
  for (const container of pod.spec.containers) add(running, container.resources?.requests);
  for (const [name, value] of sidecars) running.set(name, (running.get(name) ?? 0) + value);
  for (const [name, value] of peak) if (value > (running.get(name) ?? 0)) running.set(name, value);
  add(running, pod.spec.overhead);
  return running;
}
