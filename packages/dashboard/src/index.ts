/** The server of the dashboard, in parts that its program and `kubectl slurm dashboard` put together. */
export {
  type ClusterObjects,
  type ClusterView,
  type ClusterViews,
  type ConfigFiles,
  type JobTemplate,
  NoSlurmToken,
  type RolloutPlan,
  type SlurmIdentity,
  type UserClient,
} from './api/cluster-view.ts';
export { templatesOf } from './api/job-templates.ts';
export { assembleDashboard, type Dashboard } from './assemble.ts';
export { ClusterFeed } from './feed/cluster-feed.ts';
export { type AuditLine, type DashboardServer } from './http/dashboard-server.ts';
export { StaticFiles } from './http/static-files.ts';
export { Access, type Attributes, type ClusterRef } from './identity/access.ts';
export { Login, type ProxyOptions } from './identity/login.ts';
export { type Session, Sessions } from './identity/sessions.ts';
