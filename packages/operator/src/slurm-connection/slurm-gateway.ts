/** What the NodeSet controller asks of Slurm. The connection pool provides it; tests provide their own. */
import type {
  Deadline,
  JobUpdate,
  NodeUpdate,
  ReservationWrite,
  SlurmJob,
  SlurmNode,
  SlurmReservation,
  Waiting,
} from '@slurm-operator/slurm';

/** A whole node list and when its request began, or nothing that may be relied on. */
export type NodesView =
  | {
      readonly kind: 'known';
      readonly at: number;
      readonly nodes: readonly SlurmNode[];
      readonly deadlines: ReadonlyMap<string, Deadline>;
      /**
       * Why a node that is listed as idle may still hold a suspended job; undefined once every suspended job is known, and the
       * nodes of these are shown as busy.
       */
      readonly jobsUnknown: string | undefined;
      /** Jobs that have nodes and wait until these have started. */
      readonly wakingJobs?: readonly SlurmJob[];
      /** Some of them are not read yet: after an outage, or where many jobs began at once. */
      readonly someWakingUnread?: boolean;
      /** The jobs were listed after the nodes had been: no job was suspended between the two lists. */
      readonly jobsAfterNodes: boolean;
      readonly controllerStartedAt: number | undefined;
    }
  | { readonly kind: 'unknown'; readonly since: number; readonly why: string };

/** A pending job that asks for nodes (`--nodelist`) or features (`--constraint`) by name. */
export interface PendingNeed {
  readonly id: string;
  readonly nodes: readonly string[];
  readonly features: readonly string[];
}

export type PendingNeeds =
  | { readonly kind: 'known'; readonly jobs: readonly PendingNeed[] }
  | { readonly kind: 'unknown'; readonly why: string };

export interface SlurmGateway {
  /** What is known now, without waiting. */
  view(): NodesView;
  /** A list whose request begins after this call. Never throws for an outage: that is an unknown view. */
  freshView(signal: AbortSignal): Promise<NodesView>;
  /** The same for these nodes alone, which costs little in a large cluster; others may be missing. */
  freshNodes(names: readonly string[], signal: AbortSignal): Promise<NodesView>;
  /** Tells what of Slurm this NodeSet waits for, so that Slurm is asked more or less often. */
  expectChanges(who: string, waiting: Waiting): void;
  /** What pending jobs ask for by name: nodes and features. Read after this call. Never throws for an outage. */
  pendingNeeds(signal: AbortSignal): Promise<PendingNeeds>;
  /** One node, or many in one request. */
  updateNode(name: string | readonly string[], update: NodeUpdate, signal: AbortSignal): Promise<void>;
  /** Creates nodes from a line of slurm.conf; NotSupported before Slurm 25.11. */
  createNodes(configuration: string, signal: AbortSignal): Promise<void>;
  /** Writes the administrator's comment of a job, or whether it may be requeued; a job that is gone is no error. */
  updateJob(
    id: string,
    update: Pick<JobUpdate, 'adminComment' | 'requeue'>,
    signal: AbortSignal,
  ): Promise<void>;
  deleteNode(name: string, signal: AbortSignal): Promise<void>;
  /** Undefined: Slurm answered that there is none of that name. */
  reservation(name: string, signal: AbortSignal): Promise<SlurmReservation | undefined>;
  writeReservation(reservation: ReservationWrite, signal: AbortSignal): Promise<void>;
  deleteReservation(name: string, signal: AbortSignal): Promise<void>;
  /** The release that slurmctld runs, such as 26.05.5; undefined before it has said so. */
  release(): string | undefined;
}

/** Finds the gateway to the Slurm of a Controller; undefined while there is no connection. */
export type GatewayFinder = (namespace: string, controller: string) => SlurmGateway | undefined;
