/** The operator as a library: its kinds, itself to put on a manager, and what it may do. */
export * from './cache/resources.ts';
export { type Operator, type OperatorOptions, setupOperator } from './programs/operator.ts';
export { grantObjects } from './rbac/objects.ts';
export * from './rbac/rules.ts';
export { mutatingConfiguration, validatingConfiguration } from './webhook/configurations.ts';
