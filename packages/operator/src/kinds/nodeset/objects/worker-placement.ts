/** Where workers may be placed: what the scheduler goes by, asked beforehand for each machine. */
import { type NodeSet, workerTaint } from '@slurm-operator/api';
import type { DeepReadonly, Pod } from '@slurm-operator/kube';

/** What of a pod decides where it may run. */
export type Placement = Pick<
  DeepReadonly<NonNullable<Pod['spec']>>,
  'nodeName' | 'nodeSelector' | 'affinity' | 'tolerations' | 'hostNetwork'
>;

/** Machines that are dedicated to workers by this taint take every worker. */
export const workerToleration = {
  key: workerTaint.key,
  operator: 'Equal',
  effect: workerTaint.effect,
} as const;

/** A machine's own worker stays through what would drive others away; Slurm drains it where that is needed. */
const daemonTolerations = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
] as const;

/** The network of pods is nothing to a pod that uses its machine's. */
const hostNetworkToleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
} as const;

export type ModeTolerations = readonly ((typeof daemonTolerations)[number] | typeof hostNetworkToleration)[];

/** What a worker tolerates because of its scaling mode, as the pods of a DaemonSet do. */
export function modeTolerations(nodeSet: NodeSet): ModeTolerations {
  if (nodeSet.spec.scalingMode !== 'DaemonSet') return [];
  return nodeSet.spec.template?.spec?.hostNetwork
    ? [...daemonTolerations, hostNetworkToleration]
    : daemonTolerations;
}

export function workerPlacement(nodeSet: NodeSet): Placement {
  const spec = nodeSet.spec.template?.spec;
  return {
    ...spec,
    tolerations: [workerToleration, ...(spec?.tolerations ?? []), ...modeTolerations(nodeSet)],
  };
}
