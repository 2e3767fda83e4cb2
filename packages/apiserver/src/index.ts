/** An embedded Kubernetes API server for development and tests. */

export type { KubeObject } from './api/types.ts';
export type { AuditEntry, AuditLog, AuditQuery } from './audit/audit-log.ts';
export type { FaultScope } from './faults/fault-scope.ts';
export type { Faults, Heal } from './faults/faults.ts';
export { type ApiServer, type ApiServerOptions, startApiServer } from './server.ts';
export type { Store, StoreSnapshot } from './store/store.ts';
export { definitionFaults } from './strategy/custom-resources/definition-hooks.ts';
