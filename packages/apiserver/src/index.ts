/** An embedded Kubernetes API server for development and tests. */

export type { AuditEntry } from './audit/audit-log.ts';

export { type ApiServer, startApiServer } from './server.ts';

export { definitionFaults } from './strategy/custom-resources/definition-hooks.ts';
