/** NodeSet: worker pods, each a Slurm node. */
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import {
  choice,
  flag,
  integer,
  intOrString,
  nullableList,
  object,
  open,
  optional,
  type Rule,
  text,
} from '../schema/fields.ts';
import { ageColumn, type Column, defineKind, reasonColumn, type StoredObject } from '../schema/kind.ts';
import { autoscale } from '../shared/autoscale.ts';
import { localReference, named, secretKey } from '../shared/references.ts';
import { container, podTemplate } from '../shared/templates.ts';
import { goDuration, oneLine } from '../shared/text-rules.ts';
import { nodeSetStatus } from './nodeset-status.ts';

/** Templates often come without what the API server fills in. */
export type VolumeClaimTemplate = Partial<IPersistentVolumeClaim>;

/** A rule cannot look into a text of unknown length, so its form is a pattern and the rule compares it as a whole. */
const percentage = '^[0-9]{1,3}%$';
const maxUnavailableRule: Rule = {
  rule: "type(self) == int ? int(self) >= 1 : self != '0%' && self != '00%' && self != '000%'",
  message:
    'maxUnavailable must be a whole number of at least 1 or a percentage of at least 1%, such as 1 or "25%"; to stop a rollout set updateStrategy.rollingUpdate.paused: true',
};

const updateStrategy = object(
  {
    type: choice(['RollingUpdate', 'OnDelete', 'ScheduledUpdate'], {
      description:
        'RollingUpdate drains and replaces workers a few at a time; OnDelete waits until you delete them; ScheduledUpdate replaces them inside a Slurm reservation.',
      default: 'RollingUpdate',
    }),
    rollingUpdate: object(
      {
        maxUnavailable: intOrString({
          description:
            'Maximum number of workers that may be missing, draining or not ready at the same time: a number, or a percentage that is rounded up.',
          default: '25%',
          pattern: percentage,
          rules: [maxUnavailableRule],
        }),
        partition: integer({
          description:
            'Workers with a lower ordinal keep the old revision, for a staged rollout. 0 updates all workers.',
          default: 0,
          minimum: 0,
          format: 'int32',
        }),
        paused: flag({ description: 'Pauses the rollout.', default: false }),
      },
      { description: 'RollingUpdate parameters.', default: {} },
    ),
    scheduledUpdate: optional(
      object(
        {
          startTime: optional(
            text({
              description: 'Start of the reservation, in RFC 3339, such as 2026-01-31T22:00:00Z.',
              format: 'date-time',
            }),
          ),
          duration: text({
            description: 'Duration of the reservation, at least one minute, such as 30m or 2h.',
            default: '30m',
            maxLength: 64,
            rules: [
              {
                rule: `self.matches('${goDuration}') && duration(self) >= duration('1m')`,
                message:
                  'scheduledUpdate.duration must be a duration of at least one minute, such as 30m or 2h',
              },
            ],
          }),
          flags: optional(
            nullableList(
              text({
                description: 'One flag.',
                maxLength: 64,
                rules: [
                  {
                    rule: "self.matches('^[A-Za-z][A-Za-z0-9_=-]*$')",
                    message:
                      'each of scheduledUpdate.flags must be one flag of Slurm reservations, such as DAILY or FLEX',
                  },
                ],
              }),
              {
                description: 'Additional flags of the reservation, besides MAINT and IGNORE_JOBS.',
                merge: 'atomic',
                maxItems: 32,
              },
            ),
          ),
        },
        { description: 'ScheduledUpdate parameters.' },
      ),
    ),
  },
  {
    description: 'Update strategy of the workers.',
    default: {},
    rules: [
      {
        // Without has(), an API server refuses the default {}: it checks a default before it fills in nested ones.
        rule: "!has(self.type) || self.type != 'ScheduledUpdate' || (has(self.scheduledUpdate) && has(self.scheduledUpdate.startTime) && has(self.scheduledUpdate.duration))",
        message:
          'scheduledUpdate.startTime and scheduledUpdate.duration are required when type is ScheduledUpdate',
      },
    ],
  },
);

const hostname = text({
  description:
    'Prefix of the host name of each worker; the ordinal is appended. It may end in a dash. Defaults to the name of the pod.',
  maxLength: 253,
  rules: [
    {
      rule: "self == '' || self.matches('^[a-z0-9][-a-z0-9]{0,61}$')",
      message:
        'template.spec.hostname is the prefix of the name of every Slurm node of the set: use at most 62 lower-case letters, digits and dashes, beginning with a letter or digit, such as gpu-',
    },
  ],
});

const ssh = object(
  {
    enabled: flag({ description: 'Runs sshd in the workers.', default: false }),
    extraSshdConfig: optional(text({ description: 'Lines added to sshd_config.', maxLength: 65_536 })),
    sssdConfRef: secretKey('Secret with sssd.conf, which provides the users of the workers.'),
  },
  {
    description: 'Login to workers by ssh, for users who have a job there.',
    rules: [
      {
        rule: "!self.enabled || self.sssdConfRef.name != ''",
        message: 'ssh.sssdConfRef.name is empty: ssh.enabled needs the name of the Secret with sssd.conf',
        fieldPath: '.sssdConfRef',
      },
    ],
  },
);

const specRules: readonly Rule[] = [
  {
    rule: 'self.controllerRef.name == oldSelf.controllerRef.name',
    message: 'controllerRef cannot change after creation: create a new NodeSet for the other Controller',
    fieldPath: '.controllerRef',
  },
  {
    rule: 'has(self.volumeClaimTemplates) == has(oldSelf.volumeClaimTemplates) && (!has(self.volumeClaimTemplates) || self.volumeClaimTemplates == oldSelf.volumeClaimTemplates)',
    message:
      'volumeClaimTemplates cannot change after creation: create a new NodeSet with the other templates',
    fieldPath: '.volumeClaimTemplates',
  },
  {
    // A request that creates the object is checked before scalingMode has its default.
    rule: "!has(self.autoscale) || !has(self.scalingMode) || self.scalingMode == 'StatefulSet'",
    message:
      'autoscale needs scalingMode StatefulSet: in DaemonSet mode the Kubernetes nodes determine the workers',
    fieldPath: '.autoscale',
  },
];

const spec = object(
  {
    controllerRef: localReference(
      'The Controller of the cluster that the workers join. Immutable.',
      'Controller',
      [named('controllerRef', 'Controller')],
    ),
    replicas: integer({
      description: 'Number of workers, in StatefulSet mode. Ignored while autoscale is set.',
      default: 1,
      minimum: 0,
      format: 'int32',
    }),
    autoscale: optional(autoscale),
    scalingMode: choice(['StatefulSet', 'DaemonSet'], {
      description:
        'StatefulSet: the number of workers is replicas. DaemonSet: one worker on every node that matches the template.',
      default: 'StatefulSet',
    }),
    slurmd: container('Overrides of the slurmd container: image, resources, arguments, environment.'),
    logfile: container('Overrides of the sidecar that prints the log, if one is used.'),
    ssh: optional(ssh),
    template: podTemplate({ hostname }),
    extraConf: optional(
      text({
        description: 'Parameters of the Slurm nodes, as in slurm.conf: Key=Value, separated by spaces.',
        maxLength: 4096,
        rules: [
          {
            rule: String.raw`self.matches('^[ \\t\\r\\n]*([A-Za-z][A-Za-z0-9_]*=[^ \\t\\r\\n\\x00-\\x1f]+([ \\t\\r\\n]+|$))*$')`,
            message: 'extraConf must be Key=Value pairs separated by spaces, such as "Gres=gpu:4 Weight=10"',
          },
        ],
      }),
    ),
    partition: object(
      {
        enabled: flag({
          description: 'Creates a partition with the name of this NodeSet.',
          default: false,
        }),
        config: optional(
          text({
            description: 'Parameters of the partition, as in slurm.conf: Key=Value, separated by spaces.',
            maxLength: 4096,
            rules: [
              {
                rule: "self != ''",
                message:
                  'partition.config is empty: leave it out, or write parameters such as "State=UP MaxTime=UNLIMITED"',
              },
              oneLine('partition.config', 'write Key=Value pairs separated by spaces'),
            ],
          }),
        ),
      },
      { description: 'A Slurm partition that contains exactly these workers.', default: {} },
    ),
    volumeClaimTemplates: optional(
      nullableList(
        open<VolumeClaimTemplate>({
          description: 'A PersistentVolumeClaim, without its final name.',
        }),
        {
          description:
            'Claims of every worker, named <template>-<nodeset>-<ordinal or host name>. Immutable.',
          merge: 'atomic',
          maxItems: 32,
        },
      ),
    ),
    updateStrategy,
    revisionHistoryLimit: integer({
      description: 'Number of old revisions to keep in addition to those in use.',
      default: 0,
      minimum: 0,
      format: 'int32',
    }),
    persistentVolumeClaimRetentionPolicy: object(
      {
        whenDeleted: choice(['Retain', 'Delete'], {
          description: 'What happens to the claims when the NodeSet is deleted.',
          default: 'Retain',
        }),
        whenScaled: choice(['Retain', 'Delete'], {
          description: 'What happens to the claims of workers that a smaller replicas removes.',
          default: 'Retain',
        }),
      },
      { description: 'PVC retention policy. A rollout or a cordon never deletes a claim.', default: {} },
    ),
    minReadySeconds: optional(
      integer({
        description: 'Number of seconds that a worker must be ready before it counts as available.',
        minimum: 0,
        format: 'int32',
      }),
    ),
    ordinalPadding: integer({
      description: 'Width to which ordinals are padded with zeros: 3 gives worker-007.',
      default: 0,
      minimum: 0,
      maximum: 10,
    }),
    pinToNode: flag({
      description: 'Schedules a replaced worker on the node it was on, in StatefulSet mode.',
      default: false,
    }),
    workloadDisruptionProtection: flag({
      description: 'Prevents the eviction of workers that have jobs with a PodDisruptionBudget.',
      default: true,
    }),
    pruneSlurmNodeRecords: choice(['Never', 'NodeNotFound'], {
      description:
        'Whether the record of a Slurm node is deleted when its Kubernetes Node no longer exists, in DaemonSet mode.',
      default: 'Never',
    }),
    oversubscribeNode: flag({
      description: 'Allows several workers on one Kubernetes node.',
      default: false,
    }),
    deletionPolicy: choice(['Drain', 'CancelPending', 'Delete'], {
      description:
        'What happens to jobs when the NodeSet is deleted. Drain lets running jobs end first and waits until pending jobs of its partition are moved or cancelled. CancelPending lets running jobs end first and cancels pending jobs of its partition. Delete removes the workers at once, and all jobs end.',
      default: 'Drain',
    }),
  },
  { description: 'Desired state of the workers.', rules: specRules },
);

const number = (name: string, field: string, description: string, priority: 0 | 1 = 0): Column => ({
  name,
  type: 'integer',
  jsonPath: `.status.${field}`,
  description,
  priority,
});

/** `has` needs every step of the way. */
const hasHostname =
  "(has(self.spec.template) && has(self.spec.template.spec) && has(self.spec.template.spec.hostname) && self.spec.template.spec.hostname != '')";

/** An autoscaled NodeSet has ordinals up to its maximum. */
const ordinals =
  '(has(self.spec.autoscale) && self.spec.autoscale.max > self.spec.replicas ? self.spec.autoscale.max : self.spec.replicas)';

/** CEL has no logarithm. */
const ordinalDigits = `(${[100_000, 10_000, 1000, 100, 10]
  .map((bound, index) => `${ordinals} > ${bound} ? ${6 - index} : `)
  .join('')}1)`;

/** Characters of the longest ordinal, padding included. */
const ordinalWidth = `(self.spec.ordinalPadding > ${ordinalDigits} ? self.spec.ordinalPadding : ${ordinalDigits})`;

export const nodeSetKind = defineKind({
  kind: 'NodeSet',
  plural: 'nodesets',
  singular: 'nodeset',
  shortNames: ['nodesets', 'nss', 'slurmd'],
  description: 'A set of workers: pods that run slurmd and register with a Slurm cluster.',
  spec,
  status: nodeSetStatus,
  scalable: true,
  columns: [
    number('DESIRED', 'desired', 'Desired number of workers.'),
    number('REPLICAS', 'replicas', 'Number of workers.'),
    number('UPDATED', 'updatedReplicas', 'Workers at the newest revision.'),
    number('READY', 'readyReplicas', 'Ready workers.'),
    number('IDLE', 'slurmIdle', 'Idle Slurm nodes.', 1),
    number('ALLOCATED', 'slurmAllocated', 'Slurm nodes with jobs.', 1),
    number('DOWN', 'slurmDown', 'Slurm nodes that are down.', 1),
    number('DRAIN', 'slurmDrain', 'Slurm nodes that are drained or draining.', 1),
    reasonColumn,
    ageColumn,
  ],
  rules: [
    {
      rule: `self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') || self.spec.scalingMode == 'DaemonSet' || ${hasHostname}`,
      message:
        'the name of a NodeSet is the prefix of the host names of its workers: use only lower-case letters, digits and dashes, or set template.spec.hostname',
    },
    {
      rule: `self.spec.scalingMode == 'DaemonSet' || self.metadata.name.size() + 1 + ${ordinalWidth} <= 63`,
      message:
        'the name of a NodeSet, a dash and the highest ordinal may have at most 63 characters together: choose a shorter name',
    },
    {
      // The field's own rule reports a hostname that is too long without an ordinal.
      rule: `self.spec.scalingMode == 'DaemonSet' || !${hasHostname} || self.spec.template.spec.hostname.size() > 62 || self.spec.template.spec.hostname.size() + ${ordinalWidth} <= 63`,
      message:
        'template.spec.hostname and the highest ordinal may have at most 63 characters together: choose a shorter one',
    },
  ],
});

export type NodeSet = StoredObject<typeof nodeSetKind>;
