/**
 * The rows of an account as fields that can be owned one by one: its record (description, organization, coordinators), its row on each
 * cluster, and a row for each member. From the specification, from Slurm, and back into rows of Slurm. Pure.
 */
import type { Account } from '@slurm-operator/api';
import { type AssociationRow, emptyAssociation, type SlurmAccount } from '@slurm-operator/slurm';
import type { FieldChange, Fields } from '../../declared/fields.ts';
import { toFields, withChanges } from '../../declared/fields.ts';
import { putField, withMinutes } from '../../declared/row.ts';
import type { Read } from '../../objects/read.ts';

type Spec = Read<Account>['spec'];
type Member = NonNullable<Spec['members']>[number];

/** `account` is the record, `<cluster>/` the row of the account there, `<cluster>/<user>` a member. Names have no slash. */
export type RowId = string;
export const recordId: RowId = 'account';
export const rowIdOf = (cluster: string, user = ''): RowId => `${cluster}/${user}`;

export interface RowPlace {
  readonly cluster: string;
  /** Empty: the row of the account itself. */
  readonly user: string;
}

/** Undefined for the record. */
export function placeOf(id: RowId): RowPlace | undefined {
  const slash = id.indexOf('/');
  return slash === -1 ? undefined : { cluster: id.slice(0, slash), user: id.slice(slash + 1) };
}

/** Name of the account in Slurm. */
export const accountName = ({ metadata, spec }: Read<Account>): string => spec.name || metadata.name;

/** A row that exists says so, so that a row without any other field can be owned. */
const exists = { exists: true };

/** Fields that nothing in Slurm can unset: what leaves the specification stays as it is. */
export const lasting: ReadonlySet<string> = new Set(['exists', 'parent', 'isDefault']);

/** Values that Slurm has where nothing is set. */
export const unsetFields = (id: RowId): Fields => (id === recordId ? unsetRecord : unsetRow);

const unsetRecord: Fields = { description: '', organization: '', coordinators: [] };
const unsetRow: Fields = withoutExists(
  associationFields(emptyAssociation({ cluster: '', account: '', user: '', partition: '' })),
);

export interface DesiredOptions {
  readonly clusters: readonly string[];
  /** Members whose default account another object declares. */
  readonly defaultsElsewhere: ReadonlyMap<string, string>;
}

/** What the specification names. */
export function desiredRows(
  { spec }: Read<Account>,
  { clusters, defaultsElsewhere }: DesiredOptions,
): ReadonlyMap<RowId, Fields> {
  const { description, organization, coordinators, parent } = spec;
  const record = { ...exists, description, organization, coordinators: coordinators?.toSorted() };
  const rows = new Map<RowId, Fields>([[recordId, toFields(record)]]);
  const account = toFields({ ...exists, parent, ...shareFields(spec) });
  const members = (spec.members ?? []).map((member): [string, Fields] => {
    const isDefault = member.default === true && !defaultsElsewhere.has(member.user) ? true : undefined;
    return [member.user, toFields({ ...exists, isDefault, ...shareFields(member) })];
  });
  for (const cluster of clusters) {
    rows.set(rowIdOf(cluster), account);
    for (const [user, fields] of members) rows.set(rowIdOf(cluster, user), fields);
  }
  return rows;
}

const shareFields = ({ fairshare, priority, qos, defaultQos, limits }: Spec | Member) => ({
  fairshare,
  priority,
  qos: qos?.toSorted(),
  defaultQos,
  limits: limits && {
    ...limits,
    group: withMinutes(limits.group),
    perJob: withMinutes(limits.perJob),
  },
});

export const recordFields = ({ description, organization, coordinators }: SlurmAccount): Fields =>
  toFields({ ...exists, description, organization, coordinators: coordinators.toSorted() });

/** A limit that is not set is left out. */
export function associationFields(row: AssociationRow): Fields {
  const { cluster: _, account: __, user, partition: ___, parent, qos, ...fields } = row;
  const all = toFields({
    ...exists,
    ...fields,
    qos: qos.toSorted(),
    ...(user === '' && parent !== '' && { parent }),
  });
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== 'infinite'));
}

function withoutExists(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([path]) => path !== 'exists'));
}

/** `current` (undefined: there is none) with these changes, everything else as it is. */
export function changedAssociation(current: AssociationRow, changes: readonly FieldChange[]): AssociationRow {
  // Not `structuredClone`: parts of an empty row are one object, and would stay one.
  const row = JSON.parse(JSON.stringify(current)) as AssociationRow & Record<string, unknown>;
  const fields = withChanges(unsetRow, changes);
  for (const { path } of changes) if (path !== 'exists') putField(row, path, fields[path]);
  return row;
}

export function changedRecord(
  name: string,
  current: SlurmAccount | undefined,
  changes: readonly FieldChange[],
): Pick<SlurmAccount, 'name' | 'description' | 'organization' | 'coordinators'> {
  const { description = '', organization = '', coordinators = [] } = current ?? {};
  const row: Record<string, unknown> = { name, description, organization, coordinators };
  const fields = withChanges(unsetRecord, changes);
  for (const { path } of changes) if (path !== 'exists') row[path] = fields[path];
  return row as unknown as ReturnType<typeof changedRecord>; // the three fields of the record and nothing else
}
