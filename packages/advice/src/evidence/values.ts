/** The pieces of evidence, by name. Kubernetes objects are as the server sent them; Slurm's are those of `packages/slurm`. */
import type { Accounting, Cluster, Controller, LoginSet, NodeSet, RestApi, Token } from '@slurm-operator/api';
import type {
  ControllerRevision,
  CustomResourceDefinition,
  DeepReadonly,
  Deployment,
  Event,
  Lease,
  Live,
  Node,
  PersistentVolumeClaim,
  Pod,
} from '@slurm-operator/kube';
import type {
  AccountingJob,
  SlurmAssociation,
  SlurmDiag,
  SlurmJob,
  SlurmLicense,
  SlurmNode,
  SlurmPartition,
  SlurmReservation,
} from '@slurm-operator/slurm';
import type { Evidence } from './evidence.ts';

type Object<T> = DeepReadonly<T>;

/** Only what rules read of kinds that have no type in `packages/kube`. */
export interface NetworkPolicy {
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly policyTypes?: readonly string[];
    readonly ingress?: readonly {
      readonly from?: readonly {
        readonly namespaceSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
        readonly podSelector?: object;
      }[];
    }[];
  };
}

export interface StorageClass {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

export interface NamespaceView {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** Whether a dry-run write of one of our kinds passes the webhook. */
export interface WebhookProbe {
  readonly accepted: boolean;
  readonly message: string;
  /** The Deployment of the webhook, if none of its pods is ready: by default the API server goes on without it, and says nothing. */
  readonly down?: { readonly namespace: string; readonly name: string };
}

/** One permission that the command needs, and whether the user has it. */
export interface Permission {
  readonly verb: string;
  readonly resource: string;
  readonly allowed: boolean;
}

export interface Values {
  readonly definitions: readonly Object<CustomResourceDefinition>[];
  readonly operators: readonly Object<Deployment>[];
  readonly lease: Object<Lease> | undefined;
  readonly webhook: WebhookProbe;
  readonly permissions: readonly Permission[];
  /** Of the API server, such as `1.33`. */
  readonly kubernetesVersion: string;
  readonly namespace: NamespaceView;
  readonly controllers: readonly Live<Controller>[];
  readonly clusters: readonly Live<Cluster>[];
  readonly nodeSets: readonly Live<NodeSet>[];
  readonly loginSets: readonly Live<LoginSet>[];
  readonly accountings: readonly Live<Accounting>[];
  readonly restApis: readonly Live<RestApi>[];
  readonly tokens: readonly Live<Token>[];
  readonly revisions: readonly Object<ControllerRevision>[];
  readonly pods: readonly Object<Pod>[];
  readonly machines: readonly Object<Node>[];
  readonly events: readonly Object<Event>[];
  readonly claims: readonly Object<PersistentVolumeClaim>[];
  readonly storageClasses: readonly StorageClass[];
  readonly networkPolicies: readonly NetworkPolicy[];
  /** Last lines of containers that are not well, by `pod/container`. */
  readonly logs: ReadonlyMap<string, string>;
  readonly slurmNodes: readonly SlurmNode[];
  readonly jobs: readonly SlurmJob[];
  readonly partitions: readonly SlurmPartition[];
  readonly reservations: readonly SlurmReservation[];
  readonly diag: SlurmDiag;
  readonly licenses: readonly SlurmLicense[];
  readonly associations: readonly SlurmAssociation[];
  /** The record in the accounting of a job that slurmctld has forgotten. */
  readonly endedJob: AccountingJob | undefined;
}

export type EvidenceName = keyof Values;

/** All evidence. A piece that was not gathered is left out. */
export type EvidenceSet = { readonly [Name in EvidenceName]?: Evidence<Values[Name]> };

export interface Context {
  readonly now: number;
  readonly namespace: string;
  /** Name of the Cluster object. */
  readonly cluster: string;
  /** The diagnosis is about this job only. */
  readonly job?: number;
  /** IANA name; times are shown in it. */
  readonly timeZone: string;
}
