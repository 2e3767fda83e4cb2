/** What Slurm has to lose: jobs that have not ended, its partitions and its nodes. Pure. */
import { reasonPrefix } from '@slurm-operator/api';
import {
  hasEnded,
  isDrain,
  occupiesNodes,
  type SlurmJob,
  type SlurmNode,
  type SlurmPartition,
} from '@slurm-operator/slurm';
import { type ConfContent, namesIn } from './conf-content.ts';

/** A job that has not ended. */
export interface WorkJob {
  /** As `scontrol` and `scancel` take it. */
  readonly id: string;
  /** It holds nodes: running, suspended, completing. Otherwise it waits for some. */
  readonly active: boolean;
  /** A job that waits may name several. */
  readonly partitions: readonly string[];
  /** Nodes that it holds, or that it asks for by name. */
  readonly nodes: readonly string[];
  /** Names of the generic resources that it holds or asks for, such as gpu. */
  readonly gres: readonly string[];
  /** It is a job array, or a task of one. */
  readonly array: boolean;
  /** When it got its nodes, while they are not ready for it: its PrologSlurmctld may run. */
  readonly startingSince?: number | undefined;
}

/** A job that waits in several partitions is lost with the first that goes on 24.11; 26.05 lets it stay in the others. */
export const isIn = (job: WorkJob, partition: string): boolean => job.partitions.includes(partition);

export type SlurmWork =
  | {
      readonly kind: 'known';
      readonly jobs: readonly WorkJob[];
      /** Partition → whether it accepts new jobs. */
      readonly partitions: ReadonlyMap<string, boolean>;
      /** Partition → the NodeSets that its line names. */
      readonly partitionSets: ReadonlyMap<string, readonly string[]>;
      /** Every node that Slurm has. */
      readonly nodes: ReadonlyMap<string, NodeWork>;
      readonly nodeCount: number;
      /** Jobs that slurmctld remembers, also those that have ended. */
      readonly jobCount: number;
    }
  | {
      readonly kind: 'unknown';
      readonly why: string;
      /** A phrase: partitions that only Slurm has, and that it would forget; undefined where there are none for certain. */
      readonly mayForget?: string;
      /** slurmctld keeps its jobs in its pod, and has answered before. */
      readonly mayHaveJobs?: boolean;
    };

/** What the guard needs to know of a node. */
export interface NodeWork {
  /** It starts no new job. */
  readonly drained: boolean;
  /** The guard drained it, so the guard may end that. */
  readonly byGuard: boolean;
  /** Its power is off, or being changed: Slurm wakes it up for a job that has it. */
  readonly isAsleep?: boolean;
  /** The line that describes it in slurm.conf; undefined for a node that registered itself. */
  readonly line: string | undefined;
}

/** Asks the Slurm of a Controller. Never throws for an outage: that is unknown. */
export interface SlurmSurvey {
  /** `fresh`: every list is requested after this call; otherwise an answer of some seconds ago may count. */
  work(
    namespace: string,
    controller: string,
    signal: AbortSignal,
    options?: { readonly fresh?: boolean },
  ): Promise<SlurmWork>;
  /** The partitions that Slurm has: cheap to ask for; undefined where it does not say. */
  partitions(
    namespace: string,
    controller: string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string> | undefined>;
  /** The partitions that had nodes when Slurm answered last; undefined: it has not answered since the operator started. */
  lastPartitions(namespace: string, controller: string): ReadonlySet<string> | undefined;
  /** Whether the last node list shows a drain of the guard. */
  hasClosedNodes(namespace: string, controller: string): boolean;
  /** Drains nodes, or ends drains of the guard. */
  setNodes(namespace: string, controller: string, nodes: NodeClosing, signal: AbortSignal): Promise<void>;
  forget(namespace: string, controller: string): void;
}

/** Nodes that must start no new job before slurm.conf changes, and those that may start jobs again. */
export interface NodeClosing {
  readonly close: readonly string[];
  readonly reopen: readonly string[];
}

/** The reason of such a drain; only a drain with exactly this reason is ended by the guard. */
export const closedReason = `${reasonPrefix}its line in slurm.conf is about to change`;

/** Two configurations, and what Slurm would lose between them. */
export interface Change {
  readonly from: ConfContent;
  readonly to: ConfContent;
  readonly slurm: SlurmWork;
  readonly expected?: ExpectedWorkers;
  /** The state of slurmctld outlives its pod. @default true */
  readonly keepsState?: boolean;
}

/** Partitions whose jobs the user gave up: all of them, or those that do not run yet. */
export type Released = ReadonlyMap<string, 'all' | 'pending'>;

/** Workers that are to run, whether they have registered in Slurm or not. */
export interface ExpectedWorkers {
  /** Node names of the worker pods that exist. */
  readonly names: readonly string[];
  /** Workers that NodeSets ask for and that have no pod yet. */
  readonly absent: number;
}

/** Jobs that have ended are left out. A node list that cannot be read is taken as one name: it then matches no other node. */
export function workJobs(jobs: readonly SlurmJob[]): WorkJob[] {
  return jobs
    .filter(({ state }) => !hasEnded(state))
    .map((job) => ({
      id: idOf(job),
      active: occupiesNodes(job.state),
      partitions: namesOf(job.partition),
      nodes: [job.nodes, job.requiredNodes].flatMap(hostsOf),
      gres: gresOf(`${job.tresRequested},${job.tresAllocated},${job.tresPer}`),
      array: job.arrayJobId !== undefined,
      startingSince: job.state.includes('CONFIGURING') ? (job.startedAt ?? 0) : undefined,
    }));
}

/** What three lists of Slurm say of its work. */
export function workOf(lists: {
  readonly partitions: readonly SlurmPartition[];
  readonly nodes: readonly SlurmNode[];
  readonly jobs: readonly SlurmJob[];
}): SlurmWork {
  const { partitions, nodes, jobs } = lists;
  return {
    kind: 'known',
    jobs: workJobs(jobs),
    partitions: new Map(partitions.map((partition) => [partition.name, acceptsJobs(partition)])),
    partitionSets: new Map(
      partitions.map(({ name, nodeSets }) => [name, nodeSets.split(',').filter((set) => set !== '')]),
    ),
    nodes: nodeWork(nodes),
    nodeCount: nodes.length,
    jobCount: jobs.length,
  };
}

/** A partition that is DRAIN or INACTIVE refuses new jobs; one that is DOWN still queues them. */
export const acceptsJobs = ({ state }: SlurmPartition): boolean =>
  state.includes('UP') || state.includes('DOWN');

const powerFlags = ['POWERED_DOWN', 'POWERING_DOWN', 'POWERING_UP', 'POWER_UP'] as const;

export function nodeWork(nodes: readonly SlurmNode[]): Map<string, NodeWork> {
  return new Map(
    nodes.map((node) => [
      node.name,
      {
        drained: isDrain(node.state),
        byGuard: isDrain(node.state) && node.reason === closedReason,
        isAsleep: powerFlags.some((flag) => node.state.flags.has(flag)),
        line: lineOf(node),
      },
    ]),
  );
}

/** As much of its line as Slurm reports: enough to keep the record and its jobs. */
function lineOf({ name, state, hostname, address, port, cpus, memory, gres, features }: SlurmNode) {
  if (['DYNAMIC_NORM', 'DYNAMIC_FUTURE', 'CLOUD'].some((flag) => state.flags.has(flag))) return undefined;
  const values = {
    NodeHostname: hostname,
    NodeAddr: address,
    Port: port,
    CPUs: cpus,
    RealMemory: memory,
    // `gpu:4(S:0-1)`: where they sit is in gres.conf.
    Gres: gres.replaceAll(/\([^)]*\)/g, ''),
    Feature: features.join(','),
  };
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  return [`NodeName=${name}`, ...pairs.map(([key, value]) => `${key}=${value}`)].join(' ');
}

const idOf = ({ id, arrayJobId, arrayTaskId }: SlurmJob): string =>
  arrayJobId === undefined || arrayTaskId === undefined ? String(id) : `${arrayJobId}_${arrayTaskId}`;

const namesOf = (list: string): string[] => list.split(',').filter((name) => name !== '');

const hostsOf = (hostlist: string): string[] => (hostlist === '' ? [] : namesIn(hostlist));

/** `gres/gpu:h200=2` and `gres:gpu:2` hold gpu. */
function gresOf(tres: string): string[] {
  const names = [...tres.matchAll(/gres[/:]([^:=,]+)/g)].map((found) => found[1] ?? '');
  return [...new Set(names)];
}
