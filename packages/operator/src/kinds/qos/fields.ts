/** A QOS as fields that can be owned one by one: from the specification, from the row in Slurm, and back into a row. Pure. */
import type { QualityOfService } from '@slurm-operator/api';
import { emptyQos, type QosFlag, type SlurmQos } from '@slurm-operator/slurm';
import type { FieldChange, Fields } from '../../declared/fields.ts';
import { toFields, withChanges } from '../../declared/fields.ts';
import { putField, seconds, withMinutes } from '../../declared/row.ts';
import type { Read } from '../../objects/read.ts';

type Spec = Read<QualityOfService>['spec'];

const flagOf: Readonly<Record<NonNullable<Spec['flags']>[number], QosFlag>> = {
  DenyOnLimit: 'DENY_LIMIT',
  EnforceUsageThreshold: 'ENFORCE_USAGE_THRESHOLD',
  NoDecay: 'NO_DECAY',
  NoReserve: 'NO_RESERVE',
  OverPartQOS: 'OVERRIDE_PARTITION_QOS',
  PartitionMaxNodes: 'PARTITION_MAXIMUM_NODE',
  PartitionMinNodes: 'PARTITION_MINIMUM_NODE',
  PartitionTimeLimit: 'PARTITION_TIME_LIMIT',
  RequiresReservation: 'REQUIRED_RESERVATION',
  UsageFactorSafe: 'USAGE_FACTOR_SAFE',
};

/** Name of the row in Slurm. */
export const rowName = ({ metadata, spec }: Read<QualityOfService>): string => spec.name || metadata.name;

/** Values that Slurm has where nothing is set. */
export const unsetFields: Fields = rowFields(emptyQos(''));

/** What the specification names; its name is always one of them. */
export function desiredFields(qos: Read<QualityOfService>): Fields {
  const { spec } = qos;
  const { group, perUser, perAccount, perJob, minPriority } = spec.limits ?? {};
  return toFields({
    name: rowName(qos),
    description: spec.description,
    flags: spec.flags?.map((flag) => flagOf[flag]).toSorted(),
    priority: spec.priority,
    graceSeconds: seconds(spec.graceTime),
    preempts: spec.preempts?.toSorted(),
    preemptMode: spec.preemptMode && [spec.preemptMode.toLowerCase()],
    preemptExemptSeconds: seconds(spec.preemptExemptTime),
    usageFactor: number(spec.usageFactor),
    usageThreshold: number(spec.usageThreshold),
    limitFactor: number(spec.limitFactor),
    limits: {
      group: withMinutes(group),
      perUser,
      perAccount,
      perJob: withMinutes(perJob),
      minPriority,
    },
  });
}

/** Of the row in Slurm: a limit that is not set is left out. */
export function rowFields(row: SlurmQos): Fields {
  const all = toFields({
    ...row,
    flags: row.flags.toSorted(),
    preempts: row.preempts.toSorted(),
    preemptMode: row.preemptMode.toSorted(),
  });
  const { name, ...fields } = Object.fromEntries(
    Object.entries(all).filter(([path, value]) => path !== 'id' && value !== 'infinite'),
  );
  return name === undefined || name === '' ? fields : { name, ...fields };
}

/** `current` (undefined: there is none) with these changes, everything else as it is. */
export function changedRow(
  name: string,
  current: SlurmQos | undefined,
  changes: readonly FieldChange[],
): SlurmQos {
  // Not `structuredClone`: parts of an empty row are one object, and would stay one.
  const row = JSON.parse(JSON.stringify(current ?? emptyQos(name))) as Record<string, unknown>;
  row['id'] = current?.id;
  const fields = withChanges(unsetFields, changes);
  for (const { path } of changes) if (path !== 'name') putField(row, path, fields[path]);
  return row as unknown as SlurmQos; // the paths of both are those of `toFields`; a property test compares them
}

const number = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text);
