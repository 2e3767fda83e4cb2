/** Why jobs wait, in a bounded list of words. Slurm has more than a hundred reasons, and a new release has new ones. Pure. */
import type { SlurmJob } from '@slurm-operator/slurm';

/**
 * `Resources`: nothing that fits is free. `Priority`: other jobs come first. `Dependency`, `BeginTime`, `Held`: the user's own will, or an
 * administrator's. `Limit`: a limit of a QOS, an association or the partition. `License`, `Reservation`: these are not available.
 * `NodeDown`: the nodes that it asks for are down, drained or reserved. `Partition`: its partition takes no jobs. `Other`: anything else.
 */
export const pendingReasons = [
  'Resources',
  'Priority',
  'Dependency',
  'BeginTime',
  'Held',
  'Limit',
  'License',
  'Reservation',
  'NodeDown',
  'Partition',
  'Other',
] as const;
export type PendingReason = (typeof pendingReasons)[number];

const patterns: readonly (readonly [RegExp, PendingReason])[] = [
  [/^JobHeld|^JobHoldMaxRequeue/, 'Held'],
  [/^Dependency|^DependencyNeverSatisfied/, 'Dependency'],
  [/^BeginTime/, 'BeginTime'],
  [/^Licenses/, 'License'],
  [/^Reservation|^ReqNodeReserved/, 'Reservation'],
  [/^ReqNodeNotAvail|^NodeDown|^BootFail/, 'NodeDown'],
  [/^(QOS|Assoc|Max|Group)|Limit$|^JobArrayTaskLimit|^PartitionTimeLimit|^PartitionNodeLimit/, 'Limit'],
  [/^Partition(Down|Inactive|Config)|^AccountNotAllowed|^QOSNotAllowed/, 'Partition'],
  [/^Priority/, 'Priority'],
  [/^(Resources|None$|NodesAllocated|Prolog|PowerNotAvail|PowerReserved|Cleaning|FedJobLock)?$/, 'Resources'],
];

export function pendingReason({ stateReason, held }: Pick<SlurmJob, 'stateReason' | 'held'>): PendingReason {
  if (held) return 'Held';
  // "None" and an empty reason: the scheduler has not looked at the job yet.
  return patterns.find(([pattern]) => pattern.test(stateReason))?.[1] ?? 'Other';
}

/** The reasons for which a job waits for the cluster, not for its user. */
export const waitsForCluster = (reason: PendingReason): boolean =>
  reason === 'Resources' || reason === 'Priority' || reason === 'License' || reason === 'NodeDown';

/**
 * A job that is submitted to several partitions counts in the first: users choose the combination, so all of them would be without bound.
 */
export const partitionLabel = ({ partition }: Pick<SlurmJob, 'partition'>): string =>
  partition.split(',', 1)[0] ?? '';
