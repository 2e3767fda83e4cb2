/** The kinds, in the order in which a reader meets them. */
import type { KindDefinition } from '../schema/kind.ts';
import { accountKind } from './account.ts';
import { accountingKind } from './accounting.ts';
import { clusterKind } from './cluster.ts';
import { controllerKind } from './controller.ts';
import { loginSetKind } from './loginset.ts';
import { nodeSetKind } from './nodeset.ts';
import { qualityOfServiceKind } from './quality-of-service.ts';
import { restApiKind } from './restapi.ts';
import { tokenKind } from './token.ts';

export const kinds: readonly KindDefinition[] = [
  clusterKind,
  controllerKind,
  nodeSetKind,
  loginSetKind,
  accountingKind,
  restApiKind,
  tokenKind,
  qualityOfServiceKind,
  accountKind,
];

export { type Account, accountKind } from './account.ts';
export { type Accounting, accountingKind } from './accounting.ts';
export { type Cluster, clusterKind } from './cluster.ts';
export { type Controller, controllerKind } from './controller.ts';
export { type LoginSet, loginSetKind } from './loginset.ts';
export { type NodeSet, nodeSetKind } from './nodeset.ts';
export { type QualityOfService, qualityOfServiceKind } from './quality-of-service.ts';
export { type RestApi, restApiKind } from './restapi.ts';
export { type Token, tokenKind } from './token.ts';
