/** What the routes know of one cluster. The program fills it from caches; tests from a simulator. */
import type { Cluster, Controller, NodeSet } from '@slurm-operator/api';
import type { DeepReadonly, Event, Live, Pod } from '@slurm-operator/kube';
import type { SlurmClient } from '@slurm-operator/slurm';
import type { ClusterFeed } from '../feed/cluster-feed.ts';
import type { ClusterRef } from '../identity/access.ts';
import type { Session } from '../identity/sessions.ts';

export interface ClusterObjects {
  readonly cluster: DeepReadonly<Live<Cluster>>;
  readonly controller: DeepReadonly<Live<Controller>> | undefined;
  readonly nodeSets: readonly DeepReadonly<Live<NodeSet>>[];
  readonly pods: readonly DeepReadonly<Live<Pod>>[];
  readonly events: readonly DeepReadonly<Live<Event>>[];
}

/** Who a user is to Slurm, or why they are no user of it. */
export type SlurmIdentity =
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'none'; readonly why: string };

/** What is left of a rollout, and when it is over. */
export interface RolloutPlan {
  readonly create: number;
  readonly replace: number;
  readonly remove: number;
  /** If every job there ended now, and if each uses its whole limit; `undefined`: it waits for something without an end. */
  readonly earliestAt: number | undefined;
  readonly latestAt: number | undefined;
  /** Why it does not go on, in the words of the operator. */
  readonly withheld: readonly string[];
  readonly lowestAvailable: number;
  readonly lastJob:
    | { readonly id: string; readonly user: string; readonly nodes: readonly string[] }
    | undefined;
  /** Jobs without a limit that it waits for. */
  readonly endless: readonly { readonly id: string; readonly user: string }[];
}

/** By name. */
export interface ConfigFiles {
  /** Of the ConfigMap from which slurmctld reads them. */
  readonly inForce: Readonly<Record<string, string>>;
  /** What the operator tried last; it may be in force since, or refused. */
  readonly tried: Readonly<Record<string, string>> | undefined;
}

/** A script to begin with. What its job asks for is in its `#SBATCH` lines. */
export interface JobTemplate {
  readonly name: string;
  readonly description: string;
  readonly script: string;
}

export interface ClusterView {
  readonly ref: ClusterRef;
  readonly feed: ClusterFeed;
  readonly objects: () => ClusterObjects | undefined;
  /** Reads as the unprivileged user of the dashboard. */
  readonly reader: SlurmClient;
  readonly slurmIdentity: (session: Session) => SlurmIdentity;
  /** A client with a token of this very user; `NoSlurmToken` says in a sentence why there is none. Dispose it. */
  readonly actAs: (session: Session, scope: 'jobs' | 'nodes', signal: AbortSignal) => Promise<UserClient>;
  /** ConfigMaps with the label of job templates, for this cluster. */
  readonly jobTemplates: (signal: AbortSignal) => Promise<readonly JobTemplate[]>;
  /** `undefined` where they cannot be read. Never a Secret. */
  readonly configFiles: (signal: AbortSignal) => Promise<ConfigFiles | undefined>;
  /** `undefined` where nothing is left to do, or it cannot be said. */
  readonly planRollout: (nodeSet: string, signal: AbortSignal) => Promise<RolloutPlan | undefined>;
  /** With the user's own token of Kubernetes, so that its API server decides. Throws `NoSlurmToken` where there is none. */
  readonly pauseRollout: (
    session: Session,
    nodeSet: string,
    paused: boolean,
    signal: AbortSignal,
  ) => Promise<void>;
}

/** Unknown where the objects of Kubernetes are: then it is asked. */
export function hasAccounting(view: ClusterView): boolean {
  const objects = view.objects();
  return objects === undefined || objects.controller?.spec.accountingRef !== undefined;
}

export interface UserClient extends Disposable {
  readonly client: SlurmClient;
  readonly user: string;
}

export class NoSlurmToken extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export interface ClusterViews {
  readonly list: () => readonly ClusterView[];
  readonly find: (ref: ClusterRef) => ClusterView | undefined;
}
