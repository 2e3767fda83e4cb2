/** How the runtime addresses our own kinds. */
import {
  type Accounting,
  accountingKind,
  apiVersion,
  type Cluster,
  type Controller,
  clusterKind,
  controllerKind,
  type KindDefinition,
  type LoginSet,
  loginSetKind,
  type NodeSet,
  nodeSetKind,
  type RestApi,
  restApiKind,
  type Token,
  tokenKind,
} from '@slurm-operator/api';
import { type AnyResource, defineResource, type KubeObject, type Resource } from '@slurm-operator/kube';

const resource = <T extends KubeObject>({ kind, plural }: KindDefinition): Resource<T> =>
  defineResource<T>({ apiVersion, kind, plural, namespaced: true });

export const controllers = resource<Controller>(controllerKind);
export const nodeSets = resource<NodeSet>(nodeSetKind);
export const loginSets = resource<LoginSet>(loginSetKind);
export const accountings = resource<Accounting>(accountingKind);
export const restApis = resource<RestApi>(restApiKind);
export const tokens = resource<Token>(tokenKind);
export const clusters = resource<Cluster>(clusterKind);

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
