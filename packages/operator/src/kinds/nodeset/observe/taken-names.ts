/**
 * Which Slurm names of a NodeSet belong to another one of the same Slurm: two slurmd of one name take each other's node, and each would be
 * drained for the other. A name belongs to the set that has a pod of that name, else to the set that was created first. Machines that two sets in
 * DaemonSet mode select belong to the set that was created first in any case: what runs where must not depend on the order of changes.
 */
import type { NodeSet } from '@slurm-operator/api';
import type { DeepReadonly, Live, Node, Pod } from '@slurm-operator/kube';
import { controllerOf } from '@slurm-operator/kube';
import { workerPlacement } from '../objects/worker-placement.ts';
import { hostnamePrefix } from '../objects/worker-pod.ts';
import { fitsNode } from './fits-node.ts';

export interface OfCluster {
  /** All NodeSets of the namespace. */
  readonly nodeSets: readonly NodeSet[];
  readonly pods: readonly Live<Pod>[];
  readonly nodes: ReadonlyMap<string, DeepReadonly<Node>>;
  /** The name that a DaemonSet-mode worker has on a machine. */
  readonly hostnameOn: (node: string) => string | undefined;
  /** The uid of the NodeSet that Slurm's record of this name belongs to. */
  readonly ownerOfRecord?: (name: string) => string | undefined;
}

/** Slurm name → the NodeSet that has it. Empty, at no cost, for sets whose names cannot meet. */
export function takenNames(nodeSet: NodeSet, cluster: OfCluster): ReadonlyMap<string, string> {
  const taken = new Map<string, string>();
  for (const other of cluster.nodeSets) {
    if (other.metadata.uid === nodeSet.metadata.uid || !mayMeet(nodeSet, other)) continue;
    const { name, uid } = other.metadata;
    if (isOlder(other, nodeSet) && other.metadata.deletionTimestamp === undefined)
      for (const wanted of wantedNames(other, cluster)) if (mayBeOf(nodeSet, wanted)) taken.set(wanted, name);
    for (const pod of cluster.pods) {
      const hostname = pod.spec?.hostname;
      if (hostname !== undefined && controllerOf(pod)?.uid === uid && mayBeOf(nodeSet, hostname))
        taken.set(hostname, name);
    }
    // A worker that registered now would get the features of the record that the other set is about to delete.
    const yielded = yieldedNames(other, cluster);
    if (yielded.size > 0)
      for (const wanted of wantedNames(nodeSet, cluster))
        if (yielded.has(wanted) && cluster.ownerOfRecord?.(wanted) === uid) taken.set(wanted, name);
  }
  if (taken.size === 0) return taken;
  const yielded = yieldedNames(nodeSet, cluster);
  // What this set has already stays its own unless the other one has it as well and was there first.
  for (const pod of cluster.pods) {
    const hostname = pod.spec?.hostname ?? '';
    const isMine = taken.has(hostname) && controllerOf(pod)?.uid === nodeSet.metadata.uid;
    if (isMine && !yielded.has(hostname) && !isHeldBefore(pod, hostname, cluster)) taken.delete(hostname);
  }
  return taken;
}

/** Names of workers that a set in DaemonSet mode gives up, drained as for a scale-in: an older one in this mode selects their machines. */
export function yieldedNames(
  nodeSet: NodeSet,
  cluster: Pick<OfCluster, 'nodeSets' | 'nodes' | 'hostnameOn'>,
): ReadonlySet<string> {
  if (nodeSet.spec.scalingMode !== 'DaemonSet') return noNames;
  const owners = cluster.nodeSets.filter(
    (other) =>
      other.metadata.uid !== nodeSet.metadata.uid &&
      other.spec.scalingMode === 'DaemonSet' &&
      other.metadata.deletionTimestamp === undefined &&
      mayMeet(nodeSet, other) &&
      isOlder(other, nodeSet),
  );
  return owners.length === 0 ? noNames : new Set(owners.flatMap((other) => wantedNames(other, cluster)));
}

const noNames: ReadonlySet<string> = new Set();

function isHeldBefore(pod: Live<Pod>, hostname: string, { pods, nodeSets }: OfCluster): boolean {
  const sets = new Set(nodeSets.map(({ metadata }) => metadata.uid));
  const owner = controllerOf(pod)?.uid;
  const since = (each: Live<Pod>) => Date.parse(each.metadata.creationTimestamp ?? '');
  return pods.some((other) => {
    const uid = controllerOf(other)?.uid ?? '';
    return other.spec?.hostname === hostname && uid !== owner && sets.has(uid) && since(other) < since(pod);
  });
}

/** Whether some name of one could ever be one of the other. */
export function mayMeet(one: NodeSet, other: NodeSet): boolean {
  if (one.spec.controllerRef.name !== other.spec.controllerRef.name) return false;
  if (one.spec.scalingMode === 'DaemonSet' || other.spec.scalingMode === 'DaemonSet') return true;
  const [short, long] = [hostnamePrefix(one), hostnamePrefix(other)].toSorted((a, b) => a.length - b.length);
  return long?.startsWith(short ?? '') === true && /^\d*$/.test(long.slice(short?.length));
}

function mayBeOf(nodeSet: NodeSet, name: string): boolean {
  if (nodeSet.spec.scalingMode === 'DaemonSet') return true;
  const prefix = hostnamePrefix(nodeSet);
  const rest = name.slice(prefix.length);
  const padded =
    /^\d+$/.test(rest) && String(Number(rest)).padStart(nodeSet.spec.ordinalPadding, '0') === rest;
  return name.startsWith(prefix) && padded;
}

/** The names that a set has when it is complete; of an autoscaled one when all of its workers are awake. */
export function wantedNames(
  nodeSet: NodeSet,
  { nodes, hostnameOn }: Pick<OfCluster, 'nodes' | 'hostnameOn'>,
): string[] {
  const { replicas, autoscale, ordinalPadding, scalingMode } = nodeSet.spec;
  if (scalingMode === 'StatefulSet')
    return Array.from(
      { length: autoscale?.max ?? replicas },
      (_, ordinal) => hostnamePrefix(nodeSet) + String(ordinal).padStart(ordinalPadding, '0'),
    );
  const placement = workerPlacement(nodeSet);
  return [...nodes].flatMap(([name, node]) => (fitsNode(placement, node) ? (hostnameOn(name) ?? []) : []));
}

/** By creation, then by name, so that two sets never both give way. */
function isOlder(one: NodeSet, other: NodeSet): boolean {
  const created = (set: NodeSet) => Date.parse(set.metadata.creationTimestamp ?? '') || 0;
  return (
    created(one) - created(other) < 0 ||
    (created(one) === created(other) && one.metadata.name < other.metadata.name)
  );
}
