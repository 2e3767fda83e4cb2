/** The `--conf` line with which a worker presents itself to Slurm: its features, its size, and what the user adds. */
import type { Controller, NodeSet } from '@slurm-operator/api';
import { quantityNumber } from '@slurm-operator/kubernetes-values';
import type { Read } from '../../objects/read.ts';
import { topLevelSettings } from '../parse.ts';

export interface WorkerSize {
  readonly cpus: number | undefined;
  /** In MiB, as Slurm counts. */
  readonly memory: number | undefined;
  readonly gpus: number | undefined;
}

/** The name by which Slurm knows a NodeSet (and its partition): the host name's stem where one is set. */
export function slurmSetName(nodeSet: Read<NodeSet>): string {
  const hostname = nodeSet.spec.template?.spec?.hostname?.trim().split(/\s+/)[0] ?? '';
  return hostname.replace(/^-+|-+$/g, '') || nodeSet.metadata.name;
}

/** What every slurmd of a NodeSet registers with, so that its record can be told from one of the same name before it has a comment. */
export function instanceTypeOf(nodeSetUid: string): string {
  return `slinky.slurm.net/nodeset:${nodeSetUid}`;
}

/** What slurmd presents to Slurm: from the pod's limits, or what the user says instead. */
export function workerSize(nodeSet: NodeSet): WorkerSize {
  return sizeIn(conf(nodeSet));
}

function sizeIn(pairs: ReadonlyMap<string, string>): WorkerSize {
  const value = (key: string) => pairs.get(key)?.split('=')[1];
  const whole = (text: string | undefined) =>
    text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  const gres = value('gres');
  return {
    cpus: whole(value('cpus')),
    memory: whole(value('realmemory')),
    gpus: gres === undefined ? undefined : gpusIn(gres),
  };
}

/** How many GPUs a list such as `gpu:h200:2,shard:8` or `gpu:2(S:0-1)` means. */
export function gpusIn(gres: string): number {
  return gres
    .replaceAll(/\([^)]*\)/g, '')
    .split(',')
    .map((entry) => entry.split(':'))
    .filter(([name]) => name === 'gpu')
    .reduce((sum, parts) => sum + (parts.length === 1 ? 1 : Number(parts.at(-1)) || 0), 0);
}

/** The features that slurmd registers with, sorted. */
export const workerFeatures = (nodeSet: NodeSet): string[] =>
  conf(nodeSet).get('feature')?.slice('Feature='.length).split(',') ?? [];

/** Keys in a fixed order, so that the same NodeSet always makes the same pod. */
export function slurmdConf(nodeSet: NodeSet): string {
  return inOrder(conf(nodeSet));
}

/**
 * Whether slurmd reports each of its starts as a boot (`-b`). Containers share the boot time of their machine, so that slurmctld would
 * otherwise keep the steps of a worker that was replaced, and wait for a boot that never comes where it powers nodes up. Only with
 * ReturnToService=2: else slurmctld sets such a node DOWN and ends its jobs, which outlive a slurmd that crashes.
 */
export function reportsBoots(nodeSet: NodeSet, { spec }: Controller): boolean {
  if (spec.external) return false;
  if (nodeSet.spec.autoscale !== undefined) return true;
  const returns = topLevelSettings(spec.extraConf ?? '').get('returntoservice')?.value;
  return returns === undefined || Number(returns) === 2;
}

/** What only a slurmd that registers may say. */
const notInRecords = ['topology', 'state', 'nodename', 'nodeaddr', 'nodehostname', 'port'];

/** The record of a worker that does not exist yet: what its slurmd would present, and `shape` where that is not known before. */
export function recordConf(
  nodeSet: NodeSet,
  shape: Readonly<Record<string, string>>,
): { readonly conf: string; readonly size: WorkerSize } {
  const pairs = conf(nodeSet);
  for (const [key, value] of Object.entries(shape)) pairs.set(key.toLowerCase(), `${key}=${value}`);
  for (const key of notInRecords) pairs.delete(key);
  return { conf: inOrder(pairs), size: sizeIn(pairs) };
}

function inOrder(pairs: ReadonlyMap<string, string>): string {
  return [...pairs]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, pair]) => pair)
    .join(' ');
}

/** Lower-cased key → `Key=value`. */
function conf(nodeSet: NodeSet): Map<string, string> {
  const user = parsePairs(nodeSet.spec.extraConf ?? '');
  const features = [
    slurmSetName(nodeSet),
    ...(user.get('feature') ?? user.get('features') ?? ['', ''])[1].split(','),
  ];
  const pairs = new Map<string, string>();
  for (const [key, value] of Object.entries(size(nodeSet))) pairs.set(key.toLowerCase(), `${key}=${value}`);
  for (const [lower, [key, value]] of user) pairs.set(lower, `${key}=${value}`);
  pairs.delete('features');
  pairs.set(
    'feature',
    `Feature=${[...new Set(features.filter((feature) => feature !== ''))].toSorted().join(',')}`,
  );
  return pairs;
}

/** Lower-cased key → key as written and value; the last one wins, as in slurm.conf. */
function parsePairs(text: string): Map<string, readonly [string, string]> {
  const pairs = new Map<string, readonly [string, string]>();
  for (const token of text.split(/\s+/)) {
    const at = token.indexOf('=');
    if (at > 0) pairs.set(token.slice(0, at).toLowerCase(), [token.slice(0, at), token.slice(at + 1)]);
  }
  return pairs;
}

/**
 * Slurm may allocate what the pod may use. Without a limit slurmd detects it. Where the user gives POD_CPUS or POD_MEMORY to slurmd, its
 * image reserves the rest of the node instead, so that Slurm sees the sockets, cores and threads of the node.
 */
function size(nodeSet: NodeSet): Record<string, string> {
  const isReservedByImage = (variable: string) =>
    nodeSet.spec.slurmd?.env?.some(({ name }) => name === variable) ?? false;
  // Those of the container take precedence over those of the pod as a whole.
  const limits = {
    ...nodeSet.spec.template?.spec?.resources?.limits,
    ...nodeSet.spec.slurmd?.resources?.limits,
  };
  const cpus = Math.floor(quantityNumber(limits['cpu']));
  const memory = Math.floor(quantityNumber(limits['memory']) / 1024 ** 2);
  const gpus = ['nvidia.com/gpu', 'amd.com/gpu']
    .map((name) => quantityNumber(limits[name]))
    .find((count) => count > 0);
  return {
    ...(cpus >= 1 && !isReservedByImage('POD_CPUS') ? { CPUs: String(cpus) } : {}),
    ...(memory >= 1 && !isReservedByImage('POD_MEMORY') ? { RealMemory: String(memory) } : {}),
    ...(gpus === undefined ? {} : { Gres: `gpu:${gpus}` }),
  };
}
