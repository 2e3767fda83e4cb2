/** The public API of the runtime; README.md introduces it. */

export { applyDeclared } from './apply/apply-declared.ts';
export { covers, withoutUnset } from './apply/covers.ts';
export { type Applied, OwnedApplier, type OwnedApplyOptions } from './apply/owned-applier.ts';
export { Cache, type CacheOptions } from './cache/cache.ts';
export { Informer, type InformerOptions, type Subscriber } from './cache/informer.ts';
export { dropBookkeeping, type ProjectionOptions, project, type Transform } from './cache/projection.ts';
export type { ReflectorTuning } from './cache/reflector.ts';
export type { Change } from './cache/replica.ts';
export type { Indexer } from './cache/store.ts';
export {
  type CertificateFilesOptions,
  type CertificateSource,
  certificateFiles,
  type ServingCertificate,
} from './certificates/certificate-source.ts';
export { SelfSignedCertificates, type SelfSignedOptions } from './certificates/self-signed.ts';
export { Client, type ClientOptions, createClient } from './client/client.ts';
export { type CommandResult, type ExecOptions, exec } from './client/exec.ts';
export { addFinalizer, hasFinalizer, isBeingDeleted, removeFinalizer } from './client/finalizer.ts';
export { type ForwardedPort, type ForwardPortOptions, forwardPort } from './client/forward-port.ts';
export type {
  ApplyIntent,
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  JsonPatch,
  ListOptions,
  ListPage,
  Patch,
  WatchOptions,
  WriteObserver,
  WriteOptions,
} from './client/options.ts';
export { type PodLogOptions, podLog, podLogStream } from './client/pod-log.ts';
export {
  type AccessAttributes,
  type ReviewedUser,
  type ReviewOptions,
  reviewAccess,
  reviewToken,
} from './client/reviews.ts';
export { type EvictOptions, evict, getScale, type Scale, setScale } from './client/subresources.ts';
export type { WatchEvent } from './client/watch.ts';
export { type BackoffOptions, backoffDelay, type Clock, sleep, systemClock } from './clock.ts';
export type { ClusterConfig, Identity } from './config/config.ts';
export { type KubeconfigOptions, kubeconfigConfig, loadConfig } from './config/kubeconfig.ts';
export { ControllerBuilder, type WatchedOptions } from './controller/builder.ts';
export {
  Controller,
  type ControllerOptions,
  type ReconcileContext,
  type Reconciler,
  type Request,
  type Result,
} from './controller/controller.ts';
export {
  generationChanged,
  type Predicate,
} from './controller/predicate.ts';
export { ChannelSource, type MapFunction, type Source } from './controller/source.ts';
export * from './errors.ts';
export { type LeaderElectionOptions } from './leader-election/elector.ts';
export { type Log, silent } from './log.ts';
export { createLog, type LogOptions } from './manager/create-log.ts';
export { Discovery } from './manager/discovery.ts';
export { type Check, Health } from './manager/health.ts';
export {
  createManager,
  Manager,
  type ManagerOptions,
  type Runnable,
  shutdownSignal,
} from './manager/manager.ts';
export { Metrics } from './manager/metrics.ts';
export { type Sample, SampledMetric, type SampledMetricOptions } from './manager/sampled-metric.ts';
export {
  type StatusAddress,
  type StatusAnswer,
  type StatusRequest,
  type StatusRoute,
  serveStatus,
} from './manager/status-server.ts';
export {
  type Condition,
  findCondition,
  isTrue,
  type NewCondition,
  setCondition,
  timestamp,
} from './objects/conditions.ts';
export {
  controllerOf,
  controllerReference,
  type DeepReadonly,
  type Draft,
  type KubeObject,
  keyOf,
  type Live,
  type ObjectKey,
  type ObjectMeta,
  type ObjectRef,
  type OwnerReference,
  refOf,
} from './objects/object.ts';
export {
  type AnyResource,
  defineResource,
  draftOf,
  groupOf,
  pathOf,
  type Resource,
  resourceName,
} from './objects/resource.ts';
export * from './objects/resources.ts';
export { selectsNode, termMatches, tolerates, untolerated } from './objects/scheduling.ts';
export { Queue, type QueueOptions } from './queue/queue.ts';
export type { EventDraft } from './recorder/aggregate.ts';
export { EventRecorder, type RecorderOptions } from './recorder/recorder.ts';
export type { RateLimit } from './transport/rate-limit.ts';
export {
  type AdmissionRequest,
  type AdmissionResponse,
  allow,
  type Converter,
  deny,
  type Mutator,
  type Validator,
} from './webhook/admission.ts';
export { WebhookServer, type WebhookServerOptions } from './webhook/server.ts';
