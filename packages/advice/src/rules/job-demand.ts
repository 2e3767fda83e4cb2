/** What a job asks for, and which nodes have it: the numbers behind "Resources". */
import {
  expandHostlist,
  isSchedulable,
  jobDeadline,
  type SlurmJob,
  type SlurmNode,
  type SlurmPartition,
} from '@slurm-operator/slurm';
import { jobsByNode } from './slurm-nodes.ts';

export interface Demand {
  readonly nodes: number;
  readonly cpusPerNode: number;
  /** Megabytes. */
  readonly memoryPerNode: number;
  readonly gpusPerNode: number;
  readonly features: readonly string[];
}

/** `gpu:a100:8(S:0-1)`, `gres/gpu:2`, `gres/gpu=4` → 8, 2, 4. */
export function gpus(text: string): number {
  let total = 0;
  for (const match of text.matchAll(/(?:^|,|gres[/:])gpu(?::[A-Za-z][\w-]*)?[:=](\d+)/g))
    total += Number(match[1]);
  return total;
}

export function demandOf(job: SlurmJob): Demand {
  const nodes = Math.max(1, job.nodeCount ?? 1);
  const perNode = gpus(job.tresPerNode);
  return {
    nodes,
    cpusPerNode: Math.ceil((job.cpus ?? 1) / nodes),
    memoryPerNode: job.memoryPerNode ?? 0,
    gpusPerNode: perNode > 0 ? perNode : Math.ceil(gpus(job.tresRequested) / nodes),
    // A constraint with operators is left to Slurm; plain ones are compared.
    features: /^[\w.-]+(&[\w.-]+)*$/.test(job.constraints) ? job.constraints.split('&') : [],
  };
}

/** `4 nodes with 8 GPUs`. */
export function describeDemand({ nodes, cpusPerNode, memoryPerNode, gpusPerNode, features }: Demand): string {
  const each = [
    gpusPerNode > 0 && `${gpusPerNode} ${gpusPerNode === 1 ? 'GPU' : 'GPUs'}`,
    cpusPerNode > 0 && `${cpusPerNode} ${cpusPerNode === 1 ? 'CPU' : 'CPUs'}`,
    memoryPerNode > 0 && `${gigabytes(memoryPerNode)} of memory`,
    features.length > 0 && `the feature ${features.join('&')}`,
  ].filter((part) => part !== false);
  return `${nodes} ${nodes === 1 ? 'node' : 'nodes'} with ${each.join(', ')}`;
}

export const gigabytes = (megabytes: number): string =>
  megabytes >= 1024 ? `${Math.round((megabytes / 1024) * 10) / 10} GB` : `${megabytes} MB`;

/** Whether an empty node would do. */
export function couldRun(node: SlurmNode, demand: Demand): boolean {
  return (
    node.cpus >= demand.cpusPerNode &&
    node.memory >= demand.memoryPerNode &&
    gpus(node.gres) >= demand.gpusPerNode &&
    demand.features.every((one) => node.activeFeatures.includes(one) || node.features.includes(one))
  );
}

/** Whether it would do as it is now. */
export function fitsNow(node: SlurmNode, demand: Demand): boolean {
  return (
    isSchedulable(node.state) &&
    couldRun(node, demand) &&
    node.cpus - node.allocatedCpus >= demand.cpusPerNode &&
    node.memory - node.allocatedMemory >= demand.memoryPerNode &&
    gpus(node.gres) - gpus(node.gresUsed) >= demand.gpusPerNode
  );
}

export interface Prospect {
  /** Large enough, in the partition. */
  readonly suitable: readonly SlurmNode[];
  readonly free: readonly SlurmNode[];
  /** Suitable but drained, down or reserved. */
  readonly out: readonly SlurmNode[];
  /** Suitable and busy, with the time at which the last job there must end; soonest first. */
  readonly busy: readonly {
    readonly node: SlurmNode;
    readonly until: number;
    readonly jobs: readonly number[];
  }[];
}

export function prospects(
  job: SlurmJob,
  demand: Demand,
  world: {
    readonly slurmNodes: readonly SlurmNode[];
    readonly partitions: readonly SlurmPartition[];
    readonly jobs: readonly SlurmJob[];
  },
): Prospect {
  const wanted = new Set(job.partition.split(','));
  const inside = nodesOfPartitions(world.slurmNodes, world.partitions, wanted);
  const suitable = inside.filter((node) => couldRun(node, demand));
  const free = suitable.filter((node) => fitsNow(node, demand));
  const out = suitable.filter((node) => !isSchedulable(node.state));
  const work = jobsByNode(world.jobs);
  const busy = suitable
    .filter((node) => !free.includes(node) && !out.includes(node))
    .map((node) => {
      const mine = work.get(node.name) ?? [];
      const ends = mine.map((each) => jobDeadline(each));
      const until = ends.every((end) => typeof end === 'number') ? Math.max(...ends) : Infinity;
      return { node, until, jobs: mine.map(({ id }) => id) };
    })
    .toSorted((a, b) => a.until - b.until);
  return { suitable, free, out, busy };
}

function nodesOfPartitions(
  nodes: readonly SlurmNode[],
  partitions: readonly SlurmPartition[],
  wanted: ReadonlySet<string>,
): readonly SlurmNode[] {
  const listed = new Set(
    partitions.filter(({ name }) => wanted.has(name)).flatMap(({ nodes: list }) => safeExpand(list)),
  );
  return nodes.filter((node) => listed.has(node.name) || node.partitions.some((one) => wanted.has(one)));
}

/** A partition may list ALL or a node set, which is no hostlist. */
function safeExpand(list: string): readonly string[] {
  try {
    return expandHostlist(list);
  } catch {
    return [];
  }
}
