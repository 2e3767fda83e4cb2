/** How the kinds that commands read are addressed. */

import type { NetworkPolicy, StorageClass } from '@slurm-operator/advice';
import type { Accounting, Cluster, Controller, LoginSet, NodeSet, RestApi, Token } from '@slurm-operator/api';
import { apiVersion } from '@slurm-operator/api';
import { defineResource, type KubeObject, type Resource } from '@slurm-operator/kube';

const ours = <T extends KubeObject>(kind: string, plural: string): Resource<T> =>
  defineResource<T>({ apiVersion, kind, plural, namespaced: true });

export const controllers = ours<Controller>('Controller', 'controllers');
export const nodeSets = ours<NodeSet>('NodeSet', 'nodesets');
export const loginSets = ours<LoginSet>('LoginSet', 'loginsets');
export const accountings = ours<Accounting>('Accounting', 'accountings');
export const restApis = ours<RestApi>('RestApi', 'restapis');
export const tokens = ours<Token>('Token', 'tokens');
export const clusters = ours<Cluster>('Cluster', 'clusters');

export const networkPolicies = defineResource<KubeObject & NetworkPolicy>({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  namespaced: true,
});
export const storageClasses = defineResource<KubeObject & StorageClass>({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false,
});
