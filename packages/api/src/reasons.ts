/**
 * The types and reasons of conditions: one list for all kinds. The reference in `docs/` is made from it, so
 * that whoever reads a reason in `kubectl describe` finds what it means and what to do.
 */

export const conditionType = {
  /** The object does what its specification says. */
  ready: 'Ready',
  /** Something is on its way: a rollout, a drain, a start. */
  progressing: 'Progressing',
  /** Something is wrong that will not pass by itself, or has not passed for too long. */
  degraded: 'Degraded',
  /** Controller: the operator speaks with its Slurm. */
  slurmConnected: 'SlurmConnected',
  /** Controller: the configuration that is wanted is the one that runs. NodeSet: what slurm.conf says of it is what is wanted. */
  configApplied: 'ConfigApplied',
  /** Accounting, and the Cluster that asks it: the database answers. */
  databaseReachable: 'DatabaseReachable',
  /** NodeSet: the reservation of a ScheduledUpdate exists. */
  reservationCreated: 'ReservationCreated',
  /** Controller, NodeSet, LoginSet, Accounting: every daemon has read the newest keys. */
  keysCurrent: 'KeysCurrent',
} as const;

export type ConditionType = (typeof conditionType)[keyof typeof conditionType];

interface ReasonText {
  /** What it means. */
  readonly meaning: string;
  /** What the reader can do; empty when nothing is needed. */
  readonly advice: string;
}

const reasonTexts = {
  // Everything is well.
  Ready: { meaning: 'Everything that was asked for is there and answers.', advice: '' },
  Idle: { meaning: 'Nothing is in progress.', advice: '' },
  AsExpected: { meaning: 'Nothing is wrong.', advice: '' },
  Connected: { meaning: 'Slurm answers and accepts our token.', advice: '' },
  Applied: { meaning: 'The configuration in use is the one that is wanted.', advice: '' },
  Created: { meaning: 'The reservation exists in Slurm.', advice: '' },
  Creating: { meaning: 'The reservation is being created in Slurm.', advice: '' },
  NotExists: { meaning: 'The reservation does not exist in Slurm.', advice: '' },
  External: { meaning: 'The daemon runs elsewhere; nothing is started here.', advice: '' },
  ScaledToZero: { meaning: 'No replica is asked for.', advice: 'Raise spec.replicas to start some.' },

  // On the way.
  Starting: {
    meaning: 'Pods were created and do not answer yet.',
    advice: 'Wait; if it lasts, look at the pods.',
  },
  Scaling: { meaning: 'Workers are being added or removed.', advice: '' },
  Draining: {
    meaning: 'Workers wait for their jobs to end before they are removed.',
    advice: 'Wait, or cancel the jobs.',
  },
  RollingOut: { meaning: 'Pods are being replaced by ones of the new revision.', advice: '' },
  Paused: {
    meaning: 'The rollout stands still because it was asked to.',
    advice: 'Set paused to false to go on.',
  },
  WaitingForWindow: { meaning: 'The update waits for its maintenance window.', advice: '' },
  Reconfiguring: { meaning: 'Slurm is reading a new configuration.', advice: '' },
  VolumeResizing: {
    meaning: 'The volume of slurmctld is being enlarged.',
    advice: 'Wait; if it lasts, look at the claim that the message names.',
  },
  ConfigHeld: {
    meaning:
      'Part of the new slurm.conf waits, because Slurm would lose jobs with it, or does not say whether it would. Everything else of it is in use.',
    advice:
      'Wait, move or cancel the jobs that the message names, or force it with the command that it gives.',
  },
  Deleting: { meaning: 'The object is being deleted.', advice: '' },
  KeyRotation: { meaning: 'Some daemons still use an old key.', advice: 'Wait; the message counts them.' },

  // Something it refers to is missing or wrong.
  ControllerNotFound: {
    meaning: 'The Controller that controllerRef names does not exist in this namespace.',
    advice: 'Create it, or correct the name.',
  },
  AccountingNotFound: {
    meaning: 'The Accounting that accountingRef names does not exist in this namespace.',
    advice: 'Create it, or correct the name.',
  },
  AccountingStarting: {
    meaning: 'slurmctld goes on without accounting until slurmdbd is ready.',
    advice: 'Wait; if it lasts, look at the Accounting.',
  },
  AccountingOlder: {
    meaning: 'slurmctld waits with its new image: slurmdbd has to be of that Slurm, or a newer one, first.',
    advice: 'Upgrade the Accounting; slurmctld follows by itself.',
  },
  RestApiNotFound: {
    meaning: 'No RestApi of this namespace serves the Controller.',
    advice: 'Create a RestApi whose controllerRef names it.',
  },
  SecretNotFound: {
    meaning: 'A Secret that is referred to, or the key in it, does not exist.',
    advice: 'Create it.',
  },
  ConfigMapNotFound: {
    meaning: 'A ConfigMap that is referred to, or the key in it, does not exist.',
    advice: 'Create it.',
  },
  InvalidKey: {
    meaning: 'A key cannot be used: it is too short or belongs to no Controller.',
    advice: 'Use a key of at least 32 bytes that a Controller of this namespace uses.',
  },
  InvalidSpec: {
    meaning: 'The specification asks for something impossible.',
    advice: 'The message names the field and what to write.',
  },
  VolumeUnchangeable: {
    meaning:
      'spec.persistence asks for a volume that the existing one cannot become. Every other change is applied.',
    advice: 'Set the field that the message names back, or move the state to another volume.',
  },
  ConfigRejected: {
    meaning: 'Slurm would refuse the new configuration. The old one stays in use.',
    advice: 'Correct the line that the message quotes.',
  },
  ConfigUntried: {
    meaning: 'The new configuration could not be tried yet. The old one stays in use.',
    advice:
      'Remove what the message names; it is tried again by itself. The message has the command to do without the trial.',
  },
  UserNotAllowed: {
    meaning: 'The user that the Token names may not be given a token here.',
    advice: 'Choose another user, or have an administrator allow it.',
  },
  NameConflict: {
    meaning: 'An object of the name that is needed exists and belongs to someone else.',
    advice: 'Delete or rename it, or rename this object.',
  },

  // Pods do not work.
  PodsNotReady: { meaning: 'Some pods do not answer.', advice: 'Look at the pods that the message names.' },
  PodsUnschedulable: {
    meaning: 'Kubernetes finds no place for some pods.',
    advice: 'Compare what they ask for with what the nodes have free.',
  },
  ImagePullFailed: { meaning: 'An image cannot be pulled.', advice: 'Correct its name or the credentials.' },
  CrashLooping: {
    meaning: 'A container ends again and again.',
    advice: 'Read its log with kubectl logs --previous.',
  },
  WorkersEnded: {
    meaning: 'slurmd of some workers ended after a change of configuration.',
    advice: 'Set the change back; the message quotes slurmd and names the change.',
  },
  RolloutStuck: {
    meaning:
      'A rollout stands still: workers of the new image would be newer than slurmctld, or new pods of login nodes or slurmrestd do not become ready.',
    advice: 'Upgrade slurmctld first, or correct the template; the old pods keep working.',
  },
  QuotaExceeded: {
    meaning: 'Kubernetes refused an object because of a ResourceQuota.',
    advice: 'Raise the quota, or ask for less.',
  },
  PodSecurityViolation: {
    meaning: 'The pod security standard of the namespace does not allow the pods.',
    advice:
      'Label the namespace with pod-security.kubernetes.io/enforce=privileged, or make the workers unprivileged.',
  },
  AccessDenied: {
    meaning: 'The operator lacks a permission.',
    advice: 'Install the roles of its chart, or add the namespace to its --namespaces.',
  },
  NamespaceTerminating: {
    meaning: 'The namespace is being deleted, so nothing can be created in it.',
    advice: '',
  },
  ApplyFailed: { meaning: 'Kubernetes refused an object that is needed.', advice: 'The message quotes why.' },

  // Slurm does not answer as it should.
  SlurmUnknown: {
    meaning: 'The state of Slurm is not known at the moment, so nothing is taken away.',
    advice: 'Look at the Cluster for the cause.',
  },
  NodesNotRegistered: {
    meaning: 'Some pods run but have not joined Slurm.',
    advice: 'Read the log of slurmd there.',
  },
  ResourcesMismatch: {
    meaning: 'Slurm sees other CPUs, memory or GPUs on some workers than their pods were given.',
    advice: 'Compare the limits of slurmd and extraConf with what the machines have.',
  },
  NodesDown: {
    meaning: 'Some Slurm nodes are down or drained by someone else.',
    advice: 'Ask sinfo -R why.',
  },
  UpdateRefused: {
    meaning: 'Slurm refuses what a Node’s annotation says about its worker.',
    advice: 'Correct the annotation of the Node, or topology.yaml; the message quotes Slurm.',
  },
  DnsFailed: {
    meaning: 'The name of the server cannot be resolved.',
    advice: 'Check the Service and the cluster DNS.',
  },
  ConnectionRefused: { meaning: 'Nothing listens at the server.', advice: 'Check that slurmrestd runs.' },
  ConnectionTimeout: {
    meaning: 'The server does not answer in time.',
    advice: 'Check for a NetworkPolicy between the operator and slurmrestd, and its load.',
  },
  TlsFailed: { meaning: 'The server’s certificate is not trusted.', advice: 'Set caConfigMapRef.' },
  AuthenticationFailed: {
    meaning: 'Slurm refuses our token.',
    advice: 'Check that the key that signs it is the one that Slurm uses.',
  },
  TokenExpired: {
    meaning: 'The token in the Secret has expired.',
    advice: 'Put a fresh one into the Secret.',
  },
  VersionUnsupported: {
    meaning: 'Slurm offers no version of the REST interface that we speak.',
    advice: 'Upgrade Slurm or this operator.',
  },
  SlurmError: { meaning: 'Slurm answered with an error.', advice: 'The message quotes it.' },
  ControllerUnreachable: {
    meaning: 'slurmrestd answers but cannot reach slurmctld.',
    advice: 'Look at the Controller.',
  },
  DatabaseUnreachable: {
    meaning: 'slurmdbd cannot reach its database.',
    advice: 'Check the database and its address.',
  },
  DatabaseRefused: { meaning: 'The database refuses the user or password.', advice: 'Correct the Secret.' },
} as const satisfies Record<string, ReasonText>;

/** Every reason that a condition of ours can have. */
export type Reason = keyof typeof reasonTexts;

export const reasons: Readonly<Record<Reason, ReasonText>> = reasonTexts;
