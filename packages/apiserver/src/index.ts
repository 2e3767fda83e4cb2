/** An embedded Kubernetes API server for development and tests. */
export type { AuditEntry, AuditLog, AuditQuery } from './audit/audit-log.ts';
export { type ApiServer, type ApiServerOptions, startApiServer } from './server.ts';
export type { KubeObject } from './types.ts';
