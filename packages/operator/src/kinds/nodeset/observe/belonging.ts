/** Which pods are a NodeSet's: those it controls and that still look like its own; and which should become so, or stop. */
import type { NodeSet } from '@slurm-operator/api';
import { controllerOf, type Live, type Pod } from '@slurm-operator/kube';
import type { Slot, SlotPod, Worker } from '../model/observed.ts';
import { workerSelector } from '../objects/worker-template.ts';

export interface Belonging {
  readonly workers: readonly Worker[];
  /** Without a controller, with our labels and a name of ours. */
  readonly orphans: readonly SlotPod[];
  /** Controlled by us, but a user removed our labels to take it over. */
  readonly released: readonly SlotPod[];
  /** Without a controller, with a name of ours and other labels: released before. */
  readonly foreignPods: readonly SlotPod[];
}

export function belonging(
  pods: readonly Live<Pod>[],
  nodeSet: NodeSet,
  observeWorker: (pod: Live<Pod>) => Worker | undefined,
): Belonging {
  const { uid, name } = nodeSet.metadata;
  const selector = Object.entries(workerSelector(nodeSet));
  const found = {
    workers: [] as Worker[],
    orphans: [] as SlotPod[],
    released: [] as SlotPod[],
    foreignPods: [] as SlotPod[],
  };
  for (const pod of pods) {
    const owner = controllerOf(pod)?.uid;
    if (owner !== undefined && owner !== uid) continue;
    const worker = observeWorker(pod);
    if (worker === undefined) continue;
    const selected = selector.every(([key, value]) => pod.metadata.labels?.[key] === value);
    if (owner === uid) (selected || worker.terminating ? found.workers : found.released).push(worker);
    else if (isNameOf(name, pod.metadata.name, worker.slot))
      (selected && !worker.terminating ? found.orphans : found.foreignPods).push(worker);
  }
  return found;
}

/** Whether a worker of this set in this slot could have that name. */
function isNameOf(set: string, pod: string, { mode }: Slot): boolean {
  if (!pod.startsWith(`${set}-`)) return false;
  return mode === 'DaemonSet' || /^\d+$/.test(pod.slice(set.length + 1));
}
