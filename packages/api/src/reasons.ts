/**
 * The reasons of conditions: one table for all kinds. `make generate` writes the section "By reason" of
 * docs/troubleshooting.md and docs/reference/conditions.md from it.
 */

import { rowReasons } from './row-reasons.ts';

/** Sections of the troubleshooting page, in its order. */
export const reasonGroups = {
  healthy: 'Healthy',
  inProgress: 'In progress',
  specification: 'A referenced object or a setting is missing or invalid',
  pods: 'Pods do not run',
  slurm: 'Slurm does not respond as expected',
} as const;

export interface ReasonText {
  readonly group: keyof typeof reasonGroups;
  /** One or two sentences of Markdown; links are relative to `docs/`. */
  readonly meaning: string;
  /** What the reader can do; empty when nothing is needed. */
  readonly advice: string;
}

const reasonTexts = {
  ...rowReasons,
  Ready: { group: 'healthy', meaning: 'The object matches its specification and responds.', advice: '' },
  AsExpected: { group: 'healthy', meaning: 'No problem is known (`Degraded` is False).', advice: '' },
  Idle: { group: 'healthy', meaning: 'Nothing is in progress (`Progressing` is False).', advice: '' },
  Connected: {
    group: 'healthy',
    meaning: 'Slurm, or the database, responds and accepts the credentials of the operator.',
    advice: '',
  },
  Applied: { group: 'healthy', meaning: 'slurmctld uses the desired configuration.', advice: '' },
  Created: { group: 'healthy', meaning: 'The reservation of a ScheduledUpdate exists in Slurm.', advice: '' },
  Creating: { group: 'healthy', meaning: 'The reservation is being created in Slurm.', advice: '' },
  NotExists: { group: 'healthy', meaning: 'The reservation does not exist in Slurm.', advice: '' },
  External: { group: 'healthy', meaning: 'The daemon runs elsewhere; the operator starts none.', advice: '' },
  ScaledToZero: {
    group: 'healthy',
    meaning: '`spec.replicas` is 0, or no worker of an autoscaled NodeSet is needed.',
    advice: 'Increase `spec.replicas` to start pods; with `spec.autoscale`, submit a job.',
  },
  Starting: {
    group: 'inProgress',
    meaning: 'Pods were created and do not respond yet, or nothing was tried yet.',
    advice:
      'Wait. If it lasts, check the pods: the message names a pod that restarts, and its last log line.',
  },
  Scaling: {
    group: 'inProgress',
    meaning: 'Workers are being added or removed.',
    advice: 'If it lasts, check the reason of the condition `Ready`.',
  },
  Draining: {
    group: 'inProgress',
    meaning: 'Workers that are being removed wait for their jobs to end.',
    advice:
      'Wait: the message says by when the jobs must end. Or cancel the jobs, or scale out again, which undrains the workers.',
  },
  RollingOut: {
    group: 'inProgress',
    meaning: 'Pods are being replaced with pods of the new revision.',
    advice: 'If it lasts, check the newest pod of the set.',
  },
  WaitingForWindow: {
    group: 'inProgress',
    meaning: 'The update waits for its maintenance window.',
    advice: 'If it lasts, check the start time with `scontrol show reservation`.',
  },
  Paused: {
    group: 'inProgress',
    meaning: 'The rollout is paused by `paused: true`.',
    advice: 'Set `paused` to false to continue.',
  },
  Reconfiguring: {
    group: 'inProgress',
    meaning: 'A new configuration is being tried, or slurmctld is reading it.',
    advice: 'If it lasts, check the pod `<name>-config-check`.',
  },
  VolumeResizing: {
    group: 'inProgress',
    meaning: 'The volume of slurmctld is being enlarged.',
    advice: 'Wait. If it lasts, check the claim that the message names: `kubectl describe pvc`.',
  },
  StateKept: {
    group: 'inProgress',
    meaning:
      'slurmctld finds the state of an earlier cluster, without a note of its partitions, and starts when no more NodeSets are created: Slurm ends pending jobs whose partition is missing.',
    advice:
      'Create all NodeSets now. It starts half a minute after the last one, and after three minutes at most.',
  },
  ConfigHeld: {
    group: 'inProgress',
    meaning:
      'Part of the new slurm.conf is held back, because Slurm would lose jobs with it, or does not report whether it would. The rest is in use.',
    advice:
      'Wait, move or cancel the jobs that the message names, or force the change with the command in the message: [configuration changes](configuration-changes.md).',
  },
  RecordsKept: {
    group: 'inProgress',
    meaning:
      'The Slurm record of a removed worker stays, drained, because a pending job requests that worker by name (`--nodelist`), or a feature that no other node has (`--constraint`). Slurm would end or hold the job without it.',
    advice:
      'Do what the message says: scale out again, give another node the feature, or cancel the jobs that it names.',
  },
  RestartHeld: {
    group: 'inProgress',
    meaning:
      'slurmctld needs a restart (new image, template or key), which waits, because Slurm would lose jobs with it, or does not report whether it would.',
    advice:
      'Wait, do what the message says with the jobs that it names, or force the restart with the command in the message: [configuration changes](configuration-changes.md).',
  },
  KeyRotation: {
    group: 'inProgress',
    meaning: 'Some daemons still use an old key.',
    advice: 'Wait: the message counts them. See [changing keys](key-rotation.md).',
  },
  Deleting: {
    group: 'inProgress',
    meaning: 'The object is being deleted.',
    advice: 'For a NodeSet: it waits for jobs, or for Slurm to respond.',
  },
  ControllerNotFound: {
    group: 'specification',
    meaning: 'The Controller in `controllerRef` does not exist in this namespace.',
    advice: 'Create it, or correct the name.',
  },
  AccountingNotFound: {
    group: 'specification',
    meaning:
      'The Accounting in `accountingRef` does not exist in this namespace. slurm.conf is not changed until it does.',
    advice: 'Create it, or correct the name.',
  },
  AccountingStarting: {
    group: 'specification',
    meaning:
      'Accounting was added to a running Controller. slurmctld continues without it until slurmdbd is ready.',
    advice: 'Wait. If it lasts, check the Accounting.',
  },
  AccountingOlder: {
    group: 'specification',
    meaning: 'slurmctld keeps its current image, because the new one is newer than that of slurmdbd.',
    advice: 'Upgrade the Accounting; slurmctld follows automatically.',
  },
  RestApiNotFound: {
    group: 'specification',
    meaning: 'No RestApi in this namespace serves the Controller.',
    advice:
      'Create a RestApi whose `controllerRef` names it: the operator communicates with Slurm through it.',
  },
  SecretNotFound: {
    group: 'specification',
    meaning: 'A referenced Secret, or a key in it, does not exist.',
    advice: 'Create it.',
  },
  ConfigMapNotFound: {
    group: 'specification',
    meaning: 'A referenced ConfigMap, or a key in it, does not exist.',
    advice: 'Create it.',
  },
  InvalidKey: {
    group: 'specification',
    meaning: 'A key is too short, or a Token uses a key that no Controller in this namespace uses.',
    advice: 'Use a key of at least 32 bytes that a Controller of this namespace uses.',
  },
  InvalidSpec: {
    group: 'specification',
    meaning: 'The specification is invalid.',
    advice: 'The message names the field and what to write.',
  },
  VolumeUnchangeable: {
    group: 'specification',
    meaning:
      '`spec.persistence` requests a change that the existing volume does not support. All other changes are applied.',
    advice:
      'Revert the field that the message names, request only a larger size, or [move the state](how-to/storage.md#for-slurmctld) to another volume.',
  },
  ConfigRejected: {
    group: 'specification',
    meaning:
      'slurmctld, or a slurmd of one of the worker images, rejects the new configuration. The old one stays in use.',
    advice:
      'Correct the line that the message quotes. If workers have something that the trial does not, apply it anyway with the command in the message.',
  },
  ConfigUntried: {
    group: 'specification',
    meaning: 'The new configuration could not be tried yet. The old one stays in use.',
    advice:
      'Fix the cause that the message names (an image, a quota, a full cluster); the operator retries automatically. The message contains the command to skip the trial.',
  },
  UserNotAllowed: {
    group: 'specification',
    meaning: 'The user of the Token is not allowed: `root`, `slurm` and user ids must be allowed explicitly.',
    advice: 'Choose another user, or let an administrator allow it: [Tokens](how-to/tokens.md).',
  },
  NameConflict: {
    group: 'specification',
    meaning:
      'An object with a required name, or a Slurm node with the name of a worker, exists and is not managed by this object.',
    advice: 'Rename or delete one of the two, or set another `template.spec.hostname` in the NodeSet.',
  },
  ResourcesMismatch: {
    group: 'specification',
    meaning: 'Slurm reports other CPUs, memory or GPUs for some workers than their pods have.',
    advice: 'Compare `scontrol show node` with the limits of slurmd and `extraConf`: [GPUs](how-to/gpus.md).',
  },
  AutoscaleUnsupported: {
    group: 'specification',
    meaning: 'This release of Slurm lacks what `spec.autoscale` needs.',
    advice:
      'Upgrade Slurm to 25.11 or later, or remove `spec.autoscale`: [autoscaling](how-to/autoscaling.md).',
  },
  ShapeMismatch: {
    group: 'specification',
    meaning:
      'A worker has fewer CPUs, less memory or fewer GPUs than the sleeping Slurm node was announced with; the message has both.',
    advice: 'Correct `spec.autoscale.shape`, or the limits of slurmd: [autoscaling](how-to/autoscaling.md).',
  },
  NoPartition: {
    group: 'specification',
    meaning: 'No partition of Slurm contains the nodes of an autoscaled NodeSet, so no job can wake them.',
    advice:
      'Set `spec.partition.enabled`, or name the NodeSet in `Nodes=` of a partition in `extraConf` of the Controller: [autoscaling](how-to/autoscaling.md).',
  },
  NoMachines: {
    group: 'pods',
    meaning:
      'A worker of an autoscaled NodeSet got no Kubernetes node, or no image, in time. Its job was requeued, and sleeping nodes are not offered to jobs for a while.',
    advice: 'Add Kubernetes nodes, or lower the requests of slurmd: [autoscaling](how-to/autoscaling.md).',
  },
  Protected: {
    group: 'pods',
    meaning:
      'Wake-ups of an autoscaled NodeSet failed repeatedly: sleeping nodes are offered to jobs every half hour only, until a worker starts.',
    advice:
      'Fix what the message names. The next try shows whether it helped: [autoscaling](how-to/autoscaling.md).',
  },
  ShapeUnknown: {
    group: 'specification',
    meaning: 'The size of a worker is unknown, so Slurm cannot show autoscaled nodes that do not exist yet.',
    advice:
      'Set `spec.autoscale.shape`, or limits for CPU and memory of slurmd: [autoscaling](how-to/autoscaling.md).',
  },
  PodsNotReady: {
    group: 'pods',
    meaning: 'Some pods do not respond, or their node does not.',
    advice: 'Check the pods that the message names. Delete the Node if it does not return.',
  },
  PodsUnschedulable: {
    group: 'pods',
    meaning: 'Kubernetes cannot schedule some pods; the message quotes the scheduler.',
    advice:
      'Compare the requests of the pods with the free resources of the nodes. By default each node runs one worker.',
  },
  ImagePullFailed: {
    group: 'pods',
    meaning: 'An image cannot be pulled.',
    advice: 'Check its name, `registry` and `imagePullSecrets`.',
  },
  CrashLooping: {
    group: 'pods',
    meaning: 'A container exits repeatedly; the message quotes its last log line.',
    advice: 'Read its log with `kubectl logs --previous`.',
  },
  WorkersEnded: {
    group: 'pods',
    meaning:
      'slurmd of some workers exited after a configuration change. The message quotes slurmd and names the change, on the Controller and on the NodeSet.',
    advice: 'Revert the change; the workers restart automatically, after a back-off of at most five minutes.',
  },
  RolloutStuck: {
    group: 'pods',
    meaning:
      'A rollout makes no progress. NodeSet: the new image is newer than slurmctld. LoginSet, RestApi: new pods do not become ready.',
    advice: 'Upgrade slurmctld first, or correct the template. The old pods keep running.',
  },
  QuotaExceeded: {
    group: 'pods',
    meaning: 'A ResourceQuota refuses an object; the message names it.',
    advice: 'Increase the quota, or request less.',
  },
  PodSecurityViolation: {
    group: 'pods',
    meaning: 'The Pod Security Standard of the namespace refuses the pods.',
    advice:
      '[Label the namespace](security.md#pod-security-of-slurms-namespace), or make the workers unprivileged.',
  },
  AccessDenied: {
    group: 'pods',
    meaning: 'The operator lacks a permission.',
    advice: 'Install the roles of its chart, or add the namespace to its `--namespaces`.',
  },
  NamespaceTerminating: {
    group: 'pods',
    meaning: 'The namespace is being deleted, so nothing can be created in it.',
    advice: '',
  },
  FieldIgnored: {
    group: 'pods',
    meaning:
      'A template holds fields that Kubernetes does not know. They were left out; everything else is in effect.',
    advice:
      'Correct or remove the fields that the message names. Names are case-sensitive: dnsPolicy, not dNSPolicy.',
  },
  ApplyFailed: {
    group: 'pods',
    meaning: 'Kubernetes refuses an object for another reason.',
    advice: 'The message quotes it.',
  },
  SlurmUnknown: {
    group: 'slurm',
    meaning: 'The state of Slurm is unknown, so no worker is deleted.',
    advice: 'Check the Cluster for the cause.',
  },
  NodesNotRegistered: {
    group: 'slurm',
    meaning: 'Some workers run but have not registered with Slurm.',
    advice: 'Read the log of slurmd in the pods that the message names.',
  },
  NodesDown: {
    group: 'slurm',
    meaning: 'Some Slurm nodes are down, or were drained by someone else.',
    advice: 'Run `sinfo -R` for the reasons; resume the nodes yourself.',
  },
  UpdateRefused: {
    group: 'slurm',
    meaning:
      'Slurm refuses the topology in the annotation of a Node; the message quotes it. Everything else continues.',
    advice:
      'Correct the annotation of that Node, or add the topology to topology.yaml ([topology](how-to/topology.md)). The operator retries after 1, 2, 4 … 15 minutes, and at once when the annotation changes.',
  },
  DnsFailed: {
    group: 'slurm',
    meaning: 'The host name of the server cannot be resolved.',
    advice: 'Check the Service and the cluster DNS.',
  },
  ConnectionRefused: {
    group: 'slurm',
    meaning: 'Nothing listens at the address of the server.',
    advice: 'Check the pods of slurmrestd.',
  },
  ConnectionTimeout: {
    group: 'slurm',
    meaning: 'The server does not respond in time.',
    advice: 'Check for a NetworkPolicy between the operator and slurmrestd, and the load of slurmrestd.',
  },
  TlsFailed: {
    group: 'slurm',
    meaning: 'The certificate of the server is not trusted.',
    advice: 'Set `caConfigMapRef`.',
  },
  AuthenticationFailed: {
    group: 'slurm',
    meaning: 'Slurm refuses the token of the operator.',
    advice: 'The Secret must contain the key that slurmctld uses; the operator reads a change at once.',
  },
  TokenExpired: {
    group: 'slurm',
    meaning: 'The token in the Secret has expired.',
    advice: 'Write a new token into the Secret.',
  },
  VersionUnsupported: {
    group: 'slurm',
    meaning: 'Slurm serves no REST API version that the operator supports.',
    advice: 'Upgrade Slurm or the operator: [versions](slurm-versions.md).',
  },
  SlurmError: {
    group: 'slurm',
    meaning: 'Slurm returned an error; the message quotes it.',
    advice: 'See the documentation of Slurm.',
  },
  ControllerUnreachable: {
    group: 'slurm',
    meaning: 'slurmrestd responds but cannot reach slurmctld.',
    advice: 'Check the Controller.',
  },
  DatabaseUnreachable: {
    group: 'slurm',
    meaning: 'slurmdbd cannot use its database.',
    advice: 'Check that the database runs and that its address is correct.',
  },
  DatabaseRefused: {
    group: 'slurm',
    meaning: 'The database refuses the user or password.',
    advice: 'Correct the Secret, or the privileges of the user.',
  },
} as const satisfies Record<string, ReasonText>;

/** Every reason that a condition can have. */
export type Reason = keyof typeof reasonTexts;

export const reasons: Readonly<Record<Reason, ReasonText>> = reasonTexts;
