/**
 * The Kubernetes objects a cluster is made of: a type for each, and the descriptor that says where it is served.
 * `Pod` is a live one, as the API server answered it: read-only, with name, uid and resourceVersion.
 */
import {
  type DeepReadonly,
  defineResource,
  type KubeObject,
  type Live,
  type ObjectMeta,
  type Resource,
} from '@slurm-operator/kube';
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

type Kind<T extends { metadata?: unknown; spec?: unknown }> = Omit<T, 'metadata' | 'spec'> & {
  metadata: ObjectMeta;
  spec: NonNullable<T['spec']>;
};

/** Any object at all, seen through what all of them share. */
export type AnyObject = Live;
export type Metadata = AnyObject['metadata'];
export type OwnerReference = NonNullable<Metadata['ownerReferences']>[number];

export type Pod = Live<Kind<IPod>>;
export type PodSpec = Pod['spec'];
export type PodStatus = NonNullable<Pod['status']>;
export type PodCondition = NonNullable<PodStatus['conditions']>[number];
export type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];
export type Container = DeepReadonly<IContainer>;
export type PodTemplate = StatefulSet['spec']['template'];
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type Probe = NonNullable<Container['livenessProbe']>;
export type Node = Live<Kind<INode>>;
export type Taint = NonNullable<Node['spec']['taints']>[number];
export type Service = Live<Kind<IService>>;
export type ServicePort = NonNullable<Service['spec']['ports']>[number];
export type StatefulSet = Live<Kind<IStatefulSet>>;
export type Deployment = Live<Kind<IDeployment>>;
export type ReplicaSet = Live<Kind<IReplicaSet>>;
export type Job = Live<Kind<IJob>>;
export type PodDisruptionBudget = Live<Kind<IPodDisruptionBudget>>;
export type PersistentVolumeClaim = Live<Kind<IPersistentVolumeClaim>>;
export type PersistentVolume = Live<Kind<IPersistentVolume>>;
type EndpointSliceKind = Omit<IEndpointSlice, 'metadata'> & { metadata: ObjectMeta };
export type EndpointSlice = Live<EndpointSliceKind>;
export type Endpoint = NonNullable<EndpointSlice['endpoints']>[number];

/** A ConfigMap or Secret. */
interface DataKind extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}
export type DataObject = Live<DataKind>;

interface ControllerRevisionKind extends KubeObject {
  revision: number;
  data: unknown;
}
export type ControllerRevision = Live<ControllerRevisionKind>;

interface NamespaceKind extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string; conditions?: unknown[] };
}

interface StorageClassKind extends KubeObject {
  provisioner: string;
  parameters?: Record<string, string>;
  reclaimPolicy?: string;
  volumeBindingMode?: string;
}
export type StorageClass = Live<StorageClassKind>;

interface LeaseKind extends KubeObject {
  spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
}

const inNamespace = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Resource<T> =>
  defineResource<T>({ apiVersion, kind, plural, namespaced: true });
const inCluster = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Resource<T> =>
  defineResource<T>({ apiVersion, kind, plural, namespaced: false });

export const pods = inNamespace<Kind<IPod>>('v1', 'Pod', 'pods');
export const services = inNamespace<Kind<IService>>('v1', 'Service', 'services');
export const configMaps = inNamespace<DataKind>('v1', 'ConfigMap', 'configmaps');
export const secrets = inNamespace<DataKind>('v1', 'Secret', 'secrets');
export const serviceAccounts = inNamespace<KubeObject>('v1', 'ServiceAccount', 'serviceaccounts');
export const claims = inNamespace<Kind<IPersistentVolumeClaim>>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);
export const volumes = inCluster<Kind<IPersistentVolume>>('v1', 'PersistentVolume', 'persistentvolumes');
export const nodes = inCluster<Kind<INode>>('v1', 'Node', 'nodes');
export const namespaces = inCluster<NamespaceKind>('v1', 'Namespace', 'namespaces');
export const endpoints = inNamespace<KubeObject>('v1', 'Endpoints', 'endpoints');
export const statefulSets = inNamespace<Kind<IStatefulSet>>('apps/v1', 'StatefulSet', 'statefulsets');
export const deployments = inNamespace<Kind<IDeployment>>('apps/v1', 'Deployment', 'deployments');
export const replicaSets = inNamespace<Kind<IReplicaSet>>('apps/v1', 'ReplicaSet', 'replicasets');
export const controllerRevisions = inNamespace<ControllerRevisionKind>(
  'apps/v1',
  'ControllerRevision',
  'controllerrevisions',
);
export const jobs = inNamespace<Kind<IJob>>('batch/v1', 'Job', 'jobs');
export const endpointSlices = inNamespace<EndpointSliceKind>(
  'discovery.k8s.io/v1',
  'EndpointSlice',
  'endpointslices',
);
export const disruptionBudgets = inNamespace<Kind<IPodDisruptionBudget>>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export const storageClasses = inCluster<StorageClassKind>(
  'storage.k8s.io/v1',
  'StorageClass',
  'storageclasses',
);
export const leases = inNamespace<LeaseKind>('coordination.k8s.io/v1', 'Lease', 'leases');

/** On a volume whose owner and mode no pod's `fsGroup` changes, as with hostPath and many NFS servers. */
export const ignoresFsGroup = 'localcluster/ignores-fs-group';
