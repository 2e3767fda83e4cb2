/** The operator as a library: what its programs and its tests put together. */

export * from './cache/resources.ts';
export { type NodeSetSetup, setupNodeSets } from './nodeset/setup.ts';
export { WatchedGateway, type WatchedGatewayOptions } from './nodeset/watched-gateway.ts';
export { type Operator, type OperatorOptions, setupOperator } from './operator.ts';
export { grantObjects, personRole } from './rbac/objects.ts';
export * from './rbac/rules.ts';
export {
  mutatingConfiguration,
  reviewConditions,
  validatingConfiguration,
} from './webhook/configurations.ts';
