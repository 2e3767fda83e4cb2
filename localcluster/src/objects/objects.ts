/**
 * The Kubernetes objects a cluster is made of, as types. A live object (one the API server answered with) always has
 * its name, uid and resourceVersion, so the plans need not ask again.
 */
import type { IDeployment, IReplicaSet, IStatefulSet } from 'kubernetes-models/apps/v1';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { IEndpointSlice } from 'kubernetes-models/discovery.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type {
  IContainer,
  INode,
  IPersistentVolume,
  IPersistentVolumeClaim,
  IPod,
  IService,
} from 'kubernetes-models/v1';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

type Live<T extends { metadata?: unknown; spec?: unknown }> = Omit<T, 'metadata' | 'spec'> & {
  readonly metadata: Metadata;
  readonly spec: NonNullable<T['spec']>;
};

export type Pod = Live<IPod>;
export type PodSpec = Pod['spec'];
export type PodStatus = NonNullable<Pod['status']>;
export type PodCondition = NonNullable<PodStatus['conditions']>[number];
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
export type Container = IContainer;
export type PodTemplate = StatefulSet['spec']['template'];
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type Probe = NonNullable<Container['livenessProbe']>;
export type Node = Live<INode>;
export type Taint = NonNullable<Node['spec']['taints']>[number];
export type Toleration = NonNullable<PodSpec['tolerations']>[number];
export type Service = Live<IService>;
export type ServicePort = NonNullable<Service['spec']['ports']>[number];
export type StatefulSet = Live<IStatefulSet>;
export type Deployment = Live<IDeployment>;
export type ReplicaSet = Live<IReplicaSet>;
export type Job = Live<IJob>;
export type PodDisruptionBudget = Live<IPodDisruptionBudget>;
export type PersistentVolumeClaim = Live<IPersistentVolumeClaim>;
export type PersistentVolume = Live<IPersistentVolume>;
export type EndpointSlice = Omit<IEndpointSlice, 'metadata'> & { readonly metadata: Metadata };
export type Endpoint = NonNullable<IEndpointSlice['endpoints']>[number];

/** A ConfigMap or Secret as the volumes need it. */
export interface DataObject {
  readonly metadata: Metadata;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface ControllerRevision {
  readonly metadata: Metadata;
  readonly revision: number;
  readonly data: unknown;
}

/** Any object at all, seen through what all of them share. */
export interface AnyObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
}
