/** How the runtime addresses our own kinds. Without their schemas, which a client of the plans does not need. */
import {
  type Accounting,
  apiVersion,
  type Cluster,
  type Controller,
  type LoginSet,
  type NodeSet,
  type RestApi,
  type Token,
} from '@slurm-operator/api';
import { type AnyResource, defineResource, type KubeObject, type Resource } from '@slurm-operator/kube';

const resource = <T extends KubeObject>(kind: string, plural: string): Resource<T> =>
  defineResource<T>({ apiVersion, kind, plural, namespaced: true });

export const controllers = resource<Controller>('Controller', 'controllers');
export const nodeSets = resource<NodeSet>('NodeSet', 'nodesets');
export const loginSets = resource<LoginSet>('LoginSet', 'loginsets');
export const accountings = resource<Accounting>('Accounting', 'accountings');
export const restApis = resource<RestApi>('RestApi', 'restapis');
export const tokens = resource<Token>('Token', 'tokens');
export const clusters = resource<Cluster>('Cluster', 'clusters');

/** All seven, by name. */
export const everyKind: readonly AnyResource[] = [
  accountings,
  clusters,
  controllers,
  loginSets,
  nodeSets,
  restApis,
  tokens,
];
