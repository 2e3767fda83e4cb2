/** The public API of the library. */

export { adapters } from './adapters/versions.ts';
export { SlurmClient, type SlurmClientOptions } from './client.ts';
export { type Clock, systemClock } from './clock.ts';
export type { ApiVersion } from './connection/api-version.ts';
export { isApiVersion, newestFirst as apiVersions } from './connection/api-version.ts';
export { type CircuitOptions, type CircuitState } from './connection/circuit.ts';
export {
  Forbidden,
  InvalidInput,
  NotFound,
  NotSupported,
  ProtocolError,
  Refused,
  SlurmError,
  type SlurmErrorCode,
  Timeout,
  Unauthenticated,
  Unavailable,
} from './errors.ts';
export type * from './generated/index.ts';
export { compressHostlist, expandHostlist } from './meaning/hostlist.ts';
export * from './meaning/node-state.ts';
export { cleanReason } from './meaning/reason.ts';
export { formatTimeLimit, parseTimeLimit } from './meaning/time-limit.ts';
export type * from './model/accounting.ts';
export { includesTask, recordOfTask } from './model/array-tasks.ts';
export * from './model/association.ts';
export type * from './model/cluster.ts';
export { type Deadline, jobDeadline, nodeDeadlines } from './model/deadlines.ts';
export {
  hasEnded,
  type JobSubmission,
  type JobUpdate,
  jobKey,
  occupiesNodes,
  type SlurmJob,
  type SlurmJobState,
} from './model/job.ts';
export type { NodeStateCommand, NodeUpdate, SlurmNode } from './model/node.ts';
export * from './model/qos.ts';
export type { AccountChanges, AccountPlace, AccountRecord } from './operations/account-table.ts';
export type { AccountingJobQuery } from './operations/accounting.ts';
export type { CallOptions, Listed, ListedSince, WriteResult } from './operations/endpoint.ts';
export type { CancelResult, Submitted } from './operations/jobs.ts';
export { type CurrentNodes, isNodeBusyError, type NodeListOptions } from './operations/nodes.ts';
export { type JwtOptions, jwtExpiry, jwtUser, signJwt } from './tokens/jwt.ts';
export {
  type FileTokenOptions,
  fileToken,
  type SignedTokenOptions,
  signedToken,
  staticToken,
  type TokenProvider,
} from './tokens/token-provider.ts';
export type { JobChange, JobStates } from './watch/job-changes.ts';
export {
  JobIndex,
  type JobIndexContent,
  type JobIndexNotification,
  type JobIndexOptions,
  type JobIndexView,
} from './watch/job-index.ts';
export {
  deadlinesOf,
  type JobContent,
  type JobsNotification,
  type JobsView,
  JobWatch,
  type KnownJobs,
} from './watch/job-watch.ts';
export type { ListSinceOptions } from './watch/lister.ts';
export type { NodeChange, NodeFacet } from './watch/node-changes.ts';
export {
  type KnownNodes,
  type NodeContent,
  type NodesNotification,
  type NodesView,
  NodeWatch,
  type WatchOptions,
} from './watch/node-watch.ts';
export type { PaceOptions, Waiting } from './watch/pace.ts';
export { SlurmWatch } from './watch/slurm-watch.ts';
export type { Known, Unknown, View } from './watch/view.ts';
export { ListMemory } from './wire/list-memory.ts';
export type { Limit } from './wire/values.ts';
