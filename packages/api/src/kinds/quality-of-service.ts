/** QualityOfService: a QOS of Slurm's accounting, declared. */
import { choice, integer, list, object, optional, text } from '../schema/fields.ts';
import { ageColumn, defineKind, readyColumns, reasonColumn, type StoredObject } from '../schema/kind.ts';
import { rowNameRule } from '../shared/accounting-names.ts';
import { declaredSpec, declaredStatus } from '../shared/declared.ts';
import { qosLimits, wholeSeconds } from '../shared/limits.ts';
import { localReference, named } from '../shared/references.ts';
import { commonStatus } from '../shared/status.ts';
import { oneLine } from '../shared/text-rules.ts';

/** As sacctmgr spells them. */
export const qosFlagNames = [
  'DenyOnLimit',
  'EnforceUsageThreshold',
  'NoDecay',
  'NoReserve',
  'OverPartQOS',
  'PartitionMaxNodes',
  'PartitionMinNodes',
  'PartitionTimeLimit',
  'RequiresReservation',
  'UsageFactorSafe',
] as const;

/** Kubernetes has no fractions that survive every client: they are text. */
const fraction = (field: string, description: string) =>
  optional(
    text({
      description,
      maxLength: 16,
      rules: [
        {
          rule: String.raw`self.matches('^[0-9]+(\\.[0-9]+)?$')`,
          message: `${field} must be a number such as "2" or "0.5", in quotes`,
        },
      ],
    }),
  );

const spec = object(
  {
    accountingRef: localReference(
      'The Accounting in this namespace whose database has the QOS. A QOS applies to every cluster of that database.',
      'Accounting',
      [named('accountingRef', 'Accounting')],
    ),
    name: optional(
      text({
        description: 'Name in Slurm. Defaults to the name of this object. It cannot change.',
        maxLength: 60,
        rules: [rowNameRule('name')],
      }),
    ),
    description: optional(
      text({
        description: 'Description in Slurm.',
        maxLength: 255,
        rules: [oneLine('description', 'write it in one line')],
      }),
    ),
    priority: optional(
      integer({
        description: 'Added to the priority of jobs, weighted with PriorityWeightQOS.',
        minimum: 0,
        maximum: 4_294_967_000,
        format: 'int64',
      }),
    ),
    flags: optional(
      list(choice(qosFlagNames, { description: 'One flag, as sacctmgr spells it.' }), {
        description: 'Flags, as sacctmgr spells them. An empty list removes all.',
        merge: 'set',
        maxItems: 16,
      }),
    ),
    preempts: optional(
      list(text({ description: 'Name of a QOS.', maxLength: 60, rules: [rowNameRule('preempts[]')] }), {
        description:
          'QOS whose jobs make room for jobs of this one. They must exist. Slurm 24.11 cannot empty this list by REST.',
        merge: 'set',
        maxItems: 64,
      }),
    ),
    preemptMode: optional(
      choice(['Cluster', 'Cancel', 'Requeue', 'Suspend'], {
        description:
          'What happens to jobs of this QOS that make room. Cluster: what PreemptMode of slurm.conf says.',
      }),
    ),
    preemptExemptTime: wholeSeconds(
      'preemptExemptTime',
      'How long a job of this QOS runs before it can be preempted, such as 30m.',
    ),
    graceTime: wholeSeconds('graceTime', 'Time that a preempted job has to end, such as 2m.'),
    usageFactor: fraction('usageFactor', 'Factor of the usage that jobs are charged, such as "0.5".'),
    usageThreshold: fraction(
      'usageThreshold',
      'Fairshare that an association needs to submit jobs, such as "0.1".',
    ),
    limitFactor: fraction('limitFactor', 'Factor of the TRES limits of associations, such as "2".'),
    limits: qosLimits,
    ...declaredSpec,
  },
  {
    description:
      'Desired state of the QOS. Fields that are left out are not owned: Slurm keeps their values.',
    rules: [
      {
        rule: 'self.accountingRef.name == oldSelf.accountingRef.name',
        message: 'accountingRef.name cannot change: delete this object and create another one',
      },
      {
        rule: 'has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)',
        message: 'name cannot change: delete this object and create another one',
      },
    ],
  },
);

const status = object(
  {
    ...commonStatus,
    slurmId: optional(integer({ description: 'Number of the QOS in Slurm.', format: 'int64' })),
    ...declaredStatus,
  },
  { description: 'Most recently observed state.' },
);

export const qualityOfServiceKind = defineKind({
  kind: 'QualityOfService',
  plural: 'qualityofservices',
  singular: 'qualityofservice',
  shortNames: ['qos'],
  description:
    'A quality of service (QOS) in the accounting database: priority, preemption and limits of the jobs that use it.',
  spec,
  status,
  scalable: false,
  columns: [
    {
      name: 'PRIORITY',
      type: 'integer',
      jsonPath: '.spec.priority',
      description: 'Priority that the specification names.',
    },
    {
      name: 'DRIFT',
      type: 'string',
      jsonPath: '.spec.drift',
      description: 'What happens when someone changes it in Slurm.',
      priority: 1,
    },
    ...readyColumns,
    { ...reasonColumn, priority: 0 },
    ageColumn,
  ],
  rules: [
    {
      rule: 'has(self.spec.name) || self.metadata.name.size() <= 60',
      message:
        'the name of a QualityOfService without spec.name may have at most 60 characters, because it is the name in Slurm: set spec.name',
    },
  ],
});

export type QualityOfService = StoredObject<typeof qualityOfServiceKind>;
