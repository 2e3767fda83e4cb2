/** What Slurm has to lose: jobs that have not ended, its partitions and its nodes. Pure. */
import { hasEnded, occupiesNodes, type SlurmJob, type SlurmPartition } from '@slurm-operator/slurm';
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
}

export type SlurmWork =
  | {
      readonly kind: 'known';
      readonly jobs: readonly WorkJob[];
      /** Partition → whether it accepts new jobs. */
      readonly partitions: ReadonlyMap<string, boolean>;
      readonly nodeCount: number;
      /** Jobs that slurmctld remembers, also those that have ended. */
      readonly jobCount: number;
    }
  | { readonly kind: 'unknown'; readonly why: string };

/** Asks the Slurm of a Controller. Never throws for an outage: that is unknown. */
export interface SlurmSurvey {
  work(namespace: string, controller: string, signal: AbortSignal): Promise<SlurmWork>;
  /** The partitions that Slurm has: cheap to ask for; undefined where it does not say. */
  partitions(
    namespace: string,
    controller: string,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string> | undefined>;
  forget(namespace: string, controller: string): void;
}

/** Two configurations, and what Slurm would lose between them. */
export interface Change {
  readonly from: ConfContent;
  readonly to: ConfContent;
  readonly slurm: SlurmWork;
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
      gres: gresOf(`${job.tresRequested},${job.tresAllocated}`),
      array: job.arrayJobId !== undefined,
    }));
}

/** A partition that is DRAIN or INACTIVE refuses new jobs; one that is DOWN still queues them. */
export const acceptsJobs = ({ state }: SlurmPartition): boolean =>
  state.includes('UP') || state.includes('DOWN');

const idOf = ({ id, arrayJobId, arrayTaskId }: SlurmJob): string =>
  arrayJobId === undefined || arrayTaskId === undefined ? String(id) : `${arrayJobId}_${arrayTaskId}`;

const namesOf = (list: string): string[] => list.split(',').filter((name) => name !== '');

const hostsOf = (hostlist: string): string[] => (hostlist === '' ? [] : namesIn(hostlist));

/** `gres/gpu:h200=2` holds gpu. */
function gresOf(tres: string): string[] {
  const names = [...tres.matchAll(/gres\/([^:=,]+)/g)].map((found) => found[1] ?? '');
  return [...new Set(names)];
}
