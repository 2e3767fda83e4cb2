/** Whether a job could ever start, before it is sent: Slurm accepts jobs that no partition and no node can take, and they wait without end. */
import { gpus } from '@slurm-operator/advice';
import {
  expandHostlist,
  formatTimeLimit,
  type JobSubmission,
  parseTimeLimit,
  type SlurmAssociation,
  SlurmError,
  type SlurmPartition,
} from '@slurm-operator/slurm';
import type { NodeRow } from '../live/node-row.ts';
import type { ClusterView, SlurmIdentity } from './cluster-view.ts';
import type { BadField } from './read-input.ts';

const keepMs = 15_000;
const keepAccountsMs = 60_000;
const mostNames = 10;

/** `undefined` where it could, or where that is not known. */
export async function checkSubmission(
  view: ClusterView,
  submission: JobSubmission,
  identity: SlurmIdentity,
): Promise<BadField | undefined> {
  const { feed, reader } = view;
  if (feed.freshness.nodes.kind === 'unknown') return undefined;
  const { items } = await feed.shared.read('partitions', keepMs, (signal) =>
    reader.partitions.list({ signal }),
  );
  const problem = checkPartitions(submission, items, feed.nodes.rows);
  if (problem !== undefined || submission.account === undefined || identity.kind === 'none') return problem;
  try {
    const known = await feed.shared.read('associations', keepAccountsMs, (signal) =>
      reader.accounting.associations({ signal }),
    );
    return checkAccount(submission.account, identity.name, known);
  } catch (error) {
    // Without accounting there are no accounts to be wrong about.
    if (error instanceof SlurmError) return undefined;
    throw error;
  }
}

/** Of several partitions one is enough. */
export function checkPartitions(
  submission: JobSubmission,
  partitions: readonly SlurmPartition[],
  nodes: ReadonlyMap<string, NodeRow>,
): BadField | undefined {
  const names =
    submission.partition?.split(',') ?? partitions.filter((one) => one.isDefault).map(({ name }) => name);
  const problems = names.map((name) => {
    const partition = partitions.find((one) => one.name === name);
    return partition === undefined
      ? {
          field: 'partition',
          message: `There is no partition ${name}: there is ${listed(partitions.map((one) => one.name))}.`,
        }
      : checkPartition(submission, partition, nodes);
  });
  return problems.includes(undefined) ? undefined : problems[0];
}

function checkPartition(
  submission: JobSubmission,
  partition: SlurmPartition,
  nodes: ReadonlyMap<string, NodeRow>,
): BadField | undefined {
  const { name, maxTime, maxNodes, state } = partition;
  const { nodes: wanted = 1, timeLimit, cpusPerTask, memory, tresPerNode } = submission;
  const never = (field: string, message: string): BadField => ({
    field,
    message: `${message} The job would wait until that changes.`,
  });
  if (state.length > 0 && !state.includes('UP'))
    return never('partition', `Partition ${name} is ${state.join(' and ').toLowerCase()}.`);
  const limit = timeLimit === undefined ? undefined : parseTimeLimit(timeLimit);
  if (typeof maxTime === 'number' && limit !== undefined && (limit === 'infinite' || limit > maxTime))
    return never('timeLimit', `Partition ${name} allows at most ${formatTimeLimit(maxTime)}.`);
  if (typeof maxNodes === 'number' && wanted > maxNodes)
    return never('nodes', `Partition ${name} allows at most ${maxNodes} nodes for a job.`);
  const rows = namesOf(partition.nodes).flatMap((one) => nodes.get(one) ?? []);
  if (rows.length === 0) return undefined;
  const demands: readonly (readonly [string, number, (row: NodeRow) => number, string])[] = [
    ['cpusPerTask', cpusPerTask ?? 0, (row) => row.cpus, 'CPUs'],
    ['memory', memory ?? 0, (row) => row.memory, 'MB of memory'],
    ['tresPerNode', gpus(tresPerNode ?? ''), (row) => row.gpus, 'GPUs'],
  ];
  for (const [field, asked, has, unit] of demands) {
    const most = Math.max(...rows.map(has));
    if (asked > most)
      return never(field, `No node of partition ${name} has ${asked} ${unit}: the largest has ${most}.`);
  }
  const able = rows.filter((row) => demands.every(([, asked, has]) => asked <= has(row)));
  if (wanted > able.length)
    return never(
      'nodes',
      able.length === rows.length
        ? `Partition ${name} has ${rows.length} nodes.`
        : `Of the ${rows.length} nodes of partition ${name}, ${able.length} are large enough.`,
    );
  return undefined;
}

/** Who has no association at all may be hidden by PrivateData: then Slurm decides. */
export function checkAccount(
  account: string,
  user: string,
  associations: readonly SlurmAssociation[],
): BadField | undefined {
  const own = associations.filter((one) => one.user === user).map((one) => one.account);
  if (own.length === 0 || own.includes(account)) return undefined;
  return {
    field: 'account',
    message: `${user} has no account ${account}: there is ${listed([...new Set(own)])}.`,
  };
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ');
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown || 'none';
}

function namesOf(hostlist: string): readonly string[] {
  try {
    return hostlist === '' ? [] : expandHostlist(hostlist);
  } catch {
    return [];
  }
}
