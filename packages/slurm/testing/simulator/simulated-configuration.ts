/**
 * What slurmctld does with its jobs and nodes when it reads a new slurm.conf, as observed on both releases: it does not check for jobs. Read with a
 * parser of its own, so that a fault in the product's parser shows.
 */
import type { SimulatedCluster } from './simulated-cluster.ts';

export interface SimulatedPartition {
  readonly name: string;
  fromConfiguration: boolean;
  /** UP, DOWN, DRAIN or INACTIVE. */
  state: string;
  /** Features of its nodes; undefined: all nodes. */
  features: readonly string[] | undefined;
}

/** `scontrol reconfigure`, or a restart. Throws what slurmctld says before it ends. */
export function readConfiguration(cluster: SimulatedCluster, text: string): void {
  const records = text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
    .map((line) => new Map(line.split(/\s+/).map((pair) => split(pair))));
  const sets = new Map(
    records.flatMap((record) => {
      const name = record.get('nodeset');
      return name === undefined ? [] : [[name, record.get('feature') ?? ''] as const];
    }),
  );
  const partitions = records
    .filter((record) => record.has('partitionname'))
    .map((record) => partitionOf(record, sets));
  cluster.partitions.clear();
  for (const partition of partitions) cluster.partitions.set(partition.name, partition);
  const most = records.findLast((record) => record.has('maxnodecount'))?.get('maxnodecount');
  dropNodes(cluster, most === undefined ? Number.POSITIVE_INFINITY : Number(most));
  dropJobs(cluster);
  cluster.touchPartitions();
}

/** Jobs whose partition is gone, and those that ask by name for a node that is gone. */
export function dropJobs(cluster: SimulatedCluster): void {
  for (const job of cluster.jobs.values()) {
    if (!['PENDING', 'RUNNING', 'SUSPENDED'].includes(job.state)) continue;
    const named = job.partition.split(',');
    const left = named.filter((name) => cluster.partitions.has(name));
    const modern = cluster.release === '26.05';
    // 24.11 loses a job that waits in several partitions with the first that goes.
    if (left.length === 0 || (left.length < named.length && !modern)) {
      cluster.finishJob(job.id, 'NODE_FAIL');
      job.reason = modern ? 'PartitionDown' : 'NodeDown';
    } else if (job.state === 'PENDING' && job.requiredNodes.some((name) => !cluster.nodes.has(name))) {
      cluster.finishJob(job.id, 'NODE_FAIL');
      job.reason = 'NodeDown';
    } else job.partition = left.join(',');
  }
}

function partitionOf(
  record: ReadonlyMap<string, string>,
  sets: ReadonlyMap<string, string>,
): SimulatedPartition {
  const name = record.get('partitionname') ?? '';
  const nodes = (record.get('nodes') ?? '').split(',');
  const unknown = nodes.filter((node) => node !== 'ALL' && !sets.has(node));
  if (unknown.length > 0) throw new Error(`fatal: Invalid node names in partition ${name}`);
  return {
    name,
    fromConfiguration: true,
    state: (record.get('state') ?? 'UP').toUpperCase(),
    features: nodes.includes('ALL') ? undefined : nodes.map((node) => sets.get(node) ?? ''),
  };
}

/** 26.05 keeps the nodes that registered first, 24.11 those that registered last. */
function dropNodes(cluster: SimulatedCluster, most: number): void {
  const names = [...cluster.nodes.keys()];
  const surplus = Math.max(0, names.length - most);
  const dropped = cluster.release === '26.05' ? names.slice(names.length - surplus) : names.slice(0, surplus);
  for (const name of dropped) {
    for (const job of cluster.jobs.values()) {
      if (!job.nodes.includes(name) || !['RUNNING', 'SUSPENDED'].includes(job.state)) continue;
      if (job.requeueable) cluster.requeueJob(job.id);
      else cluster.finishJob(job.id, 'NODE_FAIL');
    }
    cluster.removeNode(name);
  }
}

function split(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  return [pair.slice(0, Math.max(0, at)).toLowerCase(), pair.slice(at + 1)];
}
