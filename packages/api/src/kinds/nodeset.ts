/** NodeSet: worker pods, each a Slurm node. */
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import {
  choice,
  flag,
  integer,
  intOrString,
  nullableList,
  nullableMap,
  object,
  open,
  optional,
  type Rule,
  text,
} from '../schema/fields.ts';
import { ageColumn, type Column, defineKind, reasonColumn, type StoredObject } from '../schema/kind.ts';
import { localReference, named, secretKey } from '../shared/references.ts';
import { commonStatus, count } from '../shared/status.ts';
import { container, podTemplate } from '../shared/templates.ts';
import { goDuration, oneLine } from '../shared/text-rules.ts';

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
            'How many workers may be missing, draining or not ready at a time: a number, or a percentage that is rounded up.',
          default: '25%',
          pattern: percentage,
          rules: [maxUnavailableRule],
        }),
        partition: integer({
          description:
            'Workers whose ordinal is lower keep the old revision: a staged rollout. 0 updates all.',
          default: 0,
          minimum: 0,
          format: 'int32',
        }),
        paused: flag({ description: 'Whether the rollout stands still.', default: false }),
      },
      { description: 'How RollingUpdate goes about it.', default: {} },
    ),
    scheduledUpdate: optional(
      object(
        {
          startTime: optional(
            text({
              description: 'When the reservation begins, in RFC 3339, such as 2026-01-31T22:00:00Z.',
              format: 'date-time',
            }),
          ),
          duration: text({
            description: 'How long the reservation lasts, at least one minute, such as 30m or 2h.',
            default: '30m',
            maxLength: 64,
            rules: [
              {
                rule: `self.matches('${goDuration}') && duration(self) >= duration('1m')`,
                message:
                  'scheduledUpdate.duration must be a length of time of at least one minute, such as 30m or 2h',
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
                description: 'Further flags of the reservation, beside MAINT and IGNORE_JOBS.',
                merge: 'atomic',
                maxItems: 32,
              },
            ),
          ),
        },
        { description: 'When ScheduledUpdate takes place.' },
      ),
    ),
  },
  {
    description: 'How workers get a new revision.',
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
    'Begins the host name of each worker; the ordinal follows. A trailing dash is welcome. Absent means the name of the pod.',
  maxLength: 253,
  rules: [
    {
      rule: "self == '' || self.matches('^[a-z0-9][-a-z0-9]{0,61}$')",
      message:
        'template.spec.hostname begins the name of every Slurm node of the set: use at most 62 lower-case letters, digits and dashes, beginning with a letter or digit, such as gpu-',
    },
  ],
});

const ssh = object(
  {
    enabled: flag({ description: 'Whether sshd runs in the workers.', default: false }),
    extraSshdConfig: optional(text({ description: 'Lines added to sshd_config.', maxLength: 65_536 })),
    sssdConfRef: secretKey('Secret with sssd.conf, by which the workers know the users.'),
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
];

const spec = object(
  {
    controllerRef: localReference(
      'The Controller whose cluster the workers join. It cannot change.',
      'Controller',
      [named('controllerRef', 'Controller')],
    ),
    replicas: integer({
      description: 'How many workers, in StatefulSet mode.',
      default: 1,
      minimum: 0,
      format: 'int32',
    }),
    scalingMode: choice(['StatefulSet', 'DaemonSet'], {
      description: 'StatefulSet: as many workers as replicas says. DaemonSet: one on every node that fits.',
      default: 'StatefulSet',
    }),
    slurmd: container('Changes to the container of slurmd: image, resources, arguments, environment.'),
    logfile: container('Changes to the side container that prints the log, where one is used.'),
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
          description: 'Whether there is a partition of the name of this NodeSet.',
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
      { description: 'A Slurm partition of exactly these workers.', default: {} },
    ),
    volumeClaimTemplates: optional(
      nullableList(
        open<VolumeClaimTemplate>({
          description: 'A PersistentVolumeClaim, without its final name.',
        }),
        {
          description:
            'Claims that every worker gets, named <template>-<nodeset>-<ordinal or host name>. They cannot change.',
          merge: 'atomic',
          maxItems: 32,
        },
      ),
    ),
    updateStrategy,
    revisionHistoryLimit: integer({
      description: 'How many old revisions are kept beside those in use.',
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
      { description: 'What becomes of claims. A rollout or a cordon never deletes one.', default: {} },
    ),
    minReadySeconds: optional(
      integer({
        description: 'How long a worker must be ready before it counts as available.',
        minimum: 0,
        format: 'int32',
      }),
    ),
    ordinalPadding: integer({
      description: 'Width to which ordinals are padded with zeros: 3 makes worker-007.',
      default: 0,
      minimum: 0,
      maximum: 10,
    }),
    pinToNode: flag({
      description: 'Whether a replaced worker returns to the node it was on, in StatefulSet mode.',
      default: false,
    }),
    workloadDisruptionProtection: flag({
      description: 'Whether a disruption budget keeps evictions away from workers that have jobs.',
      default: true,
    }),
    pruneSlurmNodeRecords: choice(['Never', 'NodeNotFound'], {
      description:
        'Whether the record of a Slurm node is deleted when the Kubernetes node it ran on is gone, in DaemonSet mode.',
      default: 'Never',
    }),
    oversubscribeNode: flag({
      description: 'Whether several workers may share one Kubernetes node.',
      default: false,
    }),
    deletionPolicy: choice(['Drain', 'CancelPending', 'Delete'], {
      description:
        'What happens to jobs when the NodeSet is deleted. Drain lets running jobs end first and waits until pending jobs of its partition are moved or cancelled. CancelPending lets running jobs end first and cancels pending jobs of its partition. Delete removes the workers at once, and all jobs end.',
      default: 'Drain',
    }),
  },
  { description: 'The workers that are wanted.', rules: specRules },
);

const status = object(
  {
    ...commonStatus,
    replicas: count('How many worker pods there are.'),
    updatedReplicas: count('How many have the newest revision.'),
    readyReplicas: count('How many are ready.'),
    availableReplicas: count('How many have been ready for minReadySeconds.'),
    unavailableReplicas: count('How many are missing or not available.'),
    desired: count('How many there should be.'),
    slurmIdle: count('How many Slurm nodes are idle.'),
    slurmAllocated: count('How many Slurm nodes run jobs.'),
    slurmDown: count('How many Slurm nodes are down.'),
    slurmDrain: count('How many Slurm nodes are drained or draining.'),
    nodeSetHash: text({ description: 'The newest revision.', default: '' }),
    currentRevision: text({
      description:
        'The revision before a rollout that is not over: workers below the partition are made of it.',
      default: '',
    }),
    collisionCount: count('How often two revisions had the same hash.'),
    ordinalToNode: optional(
      nullableMap(text({ description: 'Name of the Kubernetes node.' }), {
        description: 'The node that each ordinal returns to, with pinToNode.',
      }),
    ),
    selector: text({ description: 'Label selector of the worker pods, for autoscalers.', default: '' }),
  },
  { description: 'What was seen last.' },
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

/** CEL has no logarithm. */
const ordinalDigits = `(${[100_000, 10_000, 1000, 100, 10]
  .map((bound, index) => `self.spec.replicas > ${bound} ? ${6 - index} : `)
  .join('')}1)`;

/** Characters of the longest ordinal, padding included. */
const ordinalWidth = `(self.spec.ordinalPadding > ${ordinalDigits} ? self.spec.ordinalPadding : ${ordinalDigits})`;

export const nodeSetKind = defineKind({
  kind: 'NodeSet',
  plural: 'nodesets',
  singular: 'nodeset',
  shortNames: ['nodesets', 'nss', 'slurmd'],
  description: 'A set of workers: pods that run slurmd and join a Slurm cluster by themselves.',
  spec,
  status,
  scalable: true,
  columns: [
    number('DESIRED', 'desired', 'Workers that should be there.'),
    number('REPLICAS', 'replicas', 'Workers that are there.'),
    number('UPDATED', 'updatedReplicas', 'Workers of the newest revision.'),
    number('READY', 'readyReplicas', 'Workers that are ready.'),
    number('IDLE', 'slurmIdle', 'Slurm nodes without work.', 1),
    number('ALLOCATED', 'slurmAllocated', 'Slurm nodes with work.', 1),
    number('DOWN', 'slurmDown', 'Slurm nodes that are down.', 1),
    number('DRAIN', 'slurmDrain', 'Slurm nodes that are drained or draining.', 1),
    reasonColumn,
    ageColumn,
  ],
  rules: [
    {
      rule: `self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') || self.spec.scalingMode == 'DaemonSet' || ${hasHostname}`,
      message:
        'the name of a NodeSet begins the host names of its workers: use only lower-case letters, digits and dashes, or set template.spec.hostname',
    },
    {
      rule: `self.spec.scalingMode == 'DaemonSet' || self.metadata.name.size() + 1 + ${ordinalWidth} <= 63`,
      message:
        'the name of a NodeSet, a dash and the highest ordinal may have at most 63 characters together: choose a shorter name',
    },
    {
      // One that is too long by itself is told so where it stands.
      rule: `self.spec.scalingMode == 'DaemonSet' || !${hasHostname} || self.spec.template.spec.hostname.size() > 62 || self.spec.template.spec.hostname.size() + ${ordinalWidth} <= 63`,
      message:
        'template.spec.hostname and the highest ordinal may have at most 63 characters together: choose a shorter one',
    },
  ],
});

export type NodeSet = StoredObject<typeof nodeSetKind>;
