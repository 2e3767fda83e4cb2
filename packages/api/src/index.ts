/** The custom resources of slurm-operator: schemas, types, defaults, CRDs, and the strings others know us by. */

export { clusterNamePolicy } from './cluster-name-policy.ts';
export { conditionType } from './condition-types.ts';
export * from './kinds/index.ts';
export { type Reason, reasons } from './reasons.ts';
export { customResourceDefinition } from './schema/crd.ts';
export { applyDefaults } from './schema/defaults.ts';
export type { KindDefinition, StoredObject } from './schema/kind.ts';
export { declaredSpec, declaredStatus } from './shared/declared.ts';
export * from './well-known.ts';
