/** Descriptors and types of the built-in kinds that operators use most. For other kinds: `defineResource`. */
import type { IMutatingWebhookConfiguration } from 'kubernetes-models/admissionregistration.k8s.io/v1/MutatingWebhookConfiguration';
import type { IValidatingWebhookConfiguration } from 'kubernetes-models/admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration';
import type { ICustomResourceDefinition } from 'kubernetes-models/apiextensions.k8s.io/v1/CustomResourceDefinition';
import type { IControllerRevision } from 'kubernetes-models/apps/v1/ControllerRevision';
import type { IDaemonSet } from 'kubernetes-models/apps/v1/DaemonSet';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import type { IReplicaSet } from 'kubernetes-models/apps/v1/ReplicaSet';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import type { IJob } from 'kubernetes-models/batch/v1/Job';
import type { ILease } from 'kubernetes-models/coordination.k8s.io/v1/Lease';
import type { IEndpointSlice } from 'kubernetes-models/discovery.k8s.io/v1/EndpointSlice';
import type { IEvent } from 'kubernetes-models/events.k8s.io/v1/Event';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { INamespace } from 'kubernetes-models/v1/Namespace';
import type { INode } from 'kubernetes-models/v1/Node';
import type { IPersistentVolume } from 'kubernetes-models/v1/PersistentVolume';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { IService } from 'kubernetes-models/v1/Service';
import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import type { KubeObject, ObjectMeta } from './object.ts';
import { defineResource, type Resource } from './resource.ts';

/** A generated interface with required metadata. */
type Kind<T extends { metadata?: unknown }> = Omit<T, 'metadata'> & { metadata: ObjectMeta };

export type ConfigMap = Kind<IConfigMap>;
export type ControllerRevision = Kind<IControllerRevision>;
export type CustomResourceDefinition = Kind<ICustomResourceDefinition>;
export type DaemonSet = Kind<IDaemonSet>;
export type Deployment = Kind<IDeployment>;
export type EndpointSlice = Kind<IEndpointSlice>;
export type Event = Kind<IEvent>;
export type Job = Kind<IJob>;
export type Lease = Kind<ILease>;
export type MutatingWebhookConfiguration = Kind<IMutatingWebhookConfiguration>;
export type Namespace = Kind<INamespace>;
export type Node = Kind<INode>;
export type PersistentVolume = Kind<IPersistentVolume>;
export type PersistentVolumeClaim = Kind<IPersistentVolumeClaim>;
export type Pod = Kind<IPod>;
export type PodDisruptionBudget = Kind<IPodDisruptionBudget>;
export type ReplicaSet = Kind<IReplicaSet>;
export type Secret = Kind<ISecret>;
export type Service = Kind<IService>;
export type ServiceAccount = Kind<IServiceAccount>;
export type StatefulSet = Kind<IStatefulSet>;
export type ValidatingWebhookConfiguration = Kind<IValidatingWebhookConfiguration>;

const inNamespace = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Resource<T> =>
  defineResource<T>({ apiVersion, kind, plural, namespaced: true });
const inCluster = <T extends KubeObject>(apiVersion: string, kind: string, plural: string): Resource<T> =>
  defineResource<T>({ apiVersion, kind, plural, namespaced: false });

export const configMaps = inNamespace<ConfigMap>('v1', 'ConfigMap', 'configmaps');
export const controllerRevisions = inNamespace<ControllerRevision>(
  'apps/v1',
  'ControllerRevision',
  'controllerrevisions',
);
export const customResourceDefinitions = inCluster<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);
export const daemonSets = inNamespace<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets');
export const deployments = inNamespace<Deployment>('apps/v1', 'Deployment', 'deployments');
export const endpointSlices = inNamespace<EndpointSlice>(
  'discovery.k8s.io/v1',
  'EndpointSlice',
  'endpointslices',
);
export const events = inNamespace<Event>('events.k8s.io/v1', 'Event', 'events');
export const jobs = inNamespace<Job>('batch/v1', 'Job', 'jobs');
export const leases = inNamespace<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');
export const mutatingWebhookConfigurations = inCluster<MutatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
);
export const namespaces = inCluster<Namespace>('v1', 'Namespace', 'namespaces');
export const nodes = inCluster<Node>('v1', 'Node', 'nodes');
export const persistentVolumeClaims = inNamespace<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);
export const persistentVolumes = inCluster<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes');
export const podDisruptionBudgets = inNamespace<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export const pods = inNamespace<Pod>('v1', 'Pod', 'pods');
export const replicaSets = inNamespace<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets');
export const secrets = inNamespace<Secret>('v1', 'Secret', 'secrets');
export const serviceAccounts = inNamespace<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts');
export const services = inNamespace<Service>('v1', 'Service', 'services');
export const statefulSets = inNamespace<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets');
export const validatingWebhookConfigurations = inCluster<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
);
