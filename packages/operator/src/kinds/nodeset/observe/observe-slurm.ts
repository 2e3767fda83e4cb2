/** A Slurm node, as the plan sees it. */
import type { Deadline, SlurmNode as ListedNode } from '@slurm-operator/slurm';
import { gpusIn, instanceTypeOf } from '../../../slurm-config/render/slurmd-conf.ts';
import { parseComment } from '../model/node-comment.ts';
import type { SlurmNode } from '../model/observed.ts';

export interface SetIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The partition that slurm.conf gets for it. */
  readonly partition?: string | undefined;
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
    lastBusyAt: node.lastBusyAt,
    reasonSetAt: node.reasonSetAt,
    ...(set.partition === undefined || node.partitions.includes(set.partition)
      ? {}
      : { outsidePartition: true }),
    ...(node.partitions.length === 0 ? { inNoPartition: true } : {}),
  };
}

/**
 * Law L15: a record is of this set if its comment says so, or, before it has one, the instance type that its slurmd registered with. A slurmd
 * of another set that registered since, on the same machine, has taken it over, and its comment follows.
 */
function isOurs(node: ListedNode, set: SetIdentity): boolean {
  const info = parseComment(node.comment);
  if (info === undefined) return node.comment === '' && node.instanceType === instanceTypeOf(set.uid);
  if (node.instanceType.startsWith(instanceTypeOf('')) && node.instanceType !== instanceTypeOf(set.uid))
    return false;
  return info.namespace === set.namespace && info.nodeSetName === set.name && info.nodeSetUID === set.uid;
}
