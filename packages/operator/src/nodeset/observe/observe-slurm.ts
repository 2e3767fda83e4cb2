/** A Slurm node, as the plan sees it. */
import type { Deadline, SlurmNode as ListedNode } from '@slurm-operator/slurm';
import type { SlurmNode } from '../plan/observed.ts';
import { gpusIn } from '../worker/slurmd-conf.ts';

export interface SetIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The feature that every worker of the set has in Slurm. */
  readonly feature: string;
  /** What the names of its StatefulSet-mode workers begin with. */
  readonly prefix: string;
}

export function observeSlurmNode(
  node: ListedNode,
  deadline: Deadline | undefined,
  set: SetIdentity,
): SlurmNode {
  return {
    name: node.name,
    base: node.state.base,
    flags: node.state.flags,
    reason: node.reason,
    comment: node.comment,
    features: node.features,
    topology: node.topology,
    size: { cpus: node.cpus, memory: node.memory, gpus: gpusIn(node.gres) },
    address: node.address,
    instanceId: node.instanceId || undefined,
    slurmdStartedAt: node.slurmdStartedAt,
    deadline: deadline === 'infinite' ? Number.POSITIVE_INFINITY : deadline,
    ours: isOurs(node, set),
    reservation: node.reservation || undefined,
  };
}

/** Whether a record was made by a worker of this set: its comment says so, or, before it has one, its name and feature do. */
function isOurs(node: ListedNode, set: SetIdentity): boolean {
  const info = parseComment(node.comment);
  if (info !== undefined)
    return (
      info['namespace'] === set.namespace &&
      info['nodeSetName'] === set.name &&
      info['nodeSetUID'] === set.uid
    );
  const named = node.name.startsWith(set.prefix) && /^\d+$/.test(node.name.slice(set.prefix.length));
  return node.comment === '' && named && node.features.includes(set.feature);
}

function parseComment(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
