/** What tests, demo and installation use of the operator: its kinds, and what it may do. */
export {
  accountings,
  clusters,
  controllers,
  everyKind,
  loginSets,
  nodeSets,
  restApis,
  tokens,
} from './cache/resources.ts';
export { grantObjects } from './rbac/objects.ts';
export { managerClusterRules, managerNamespaceRules } from './rbac/rules.ts';
export { mutatingConfiguration } from './webhook/configurations.ts';
