/** How the runtime addresses our own kinds. Without their schemas, which a client of the plans does not need. */

import { hash } from 'node:crypto';
import {
  type Account,
  type Accounting,
  apiVersion,
  type Cluster,
  type Controller,
  type LoginSet,
  type NodeSet,
  type QualityOfService,
  type RestApi,
  type Token,
} from '@slurm-operator/api';
import {
  type AnyResource,
  defineResource,
  dropBookkeeping,
  type KubeObject,
  type Live,
  type Resource,
} from '@slurm-operator/kube';

const resource = <T extends KubeObject>(kind: string, plural: string): Resource<T> =>
  defineResource<T>({ apiVersion, kind, plural, namespaced: true });

export const controllers = resource<Controller>('Controller', 'controllers');
export const nodeSets = resource<NodeSet>('NodeSet', 'nodesets');
export const loginSets = resource<LoginSet>('LoginSet', 'loginsets');
export const accountings = resource<Accounting>('Accounting', 'accountings');
export const restApis = resource<RestApi>('RestApi', 'restapis');
export const tokens = resource<Token>('Token', 'tokens');
export const qualitiesOfService = resource<QualityOfService>('QualityOfService', 'qualityofservices');
export const accounts = resource<Account>('Account', 'accounts');
export const clusters = resource<Cluster>('Cluster', 'clusters');

/** All of them, by name. */
export const everyKind: readonly AnyResource[] = [
  accountings,
  accounts,
  clusters,
  controllers,
  loginSets,
  nodeSets,
  qualitiesOfService,
  restApis,
  tokens,
];

/**
 * Secrets and ConfigMaps are cached as digests: a change can be seen and a key looked for, while no secret rests in
 * memory. Code that needs a value reads it from the API server and does not keep it.
 */
interface WithData extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  stringData?: unknown;
}

/** For Secrets and ConfigMaps. */
export function digestData<T extends KubeObject>(object: Live<T>): Live<T> {
  // The compiler cannot know that both kinds that `T` may be have data.
  const { data, binaryData, stringData: _, ...rest } = dropBookkeeping(object) as unknown as Live<WithData>;
  const digests = Object.fromEntries(
    Object.entries({ ...data, ...binaryData }).map(([key, value]) => [key, hash('sha256', value)]),
  );
  return { ...rest, data: digests } as unknown as Live<T>; // the same object, with digests for values
}
