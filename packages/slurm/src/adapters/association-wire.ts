/**
 * An association between the model and the wire. One table says where each limit is in Slurm's JSON. Pure.
 *
 * What a write must know (contract suite, "writing an association"): a scalar that is left out stays as it is, but a TRES that is left
 * out is removed, which is the opposite of a QOS. So a write sends the whole row.
 */

import type { AssociationRow } from '../model/association.ts';
import { type Limit, limitOf, listOf, type WireNumber, wireNumber } from '../wire/values.ts';
import { at, put } from './paths.ts';
import { readTresCounts } from './qos-wire.ts';

type Json = Readonly<Record<string, unknown>>;

/** Places of limits: [in the model below `limits`, on the wire]. */
const numbers: readonly (readonly [string, string])[] = [
  ['group.jobs', 'max.jobs.per.count'],
  ['group.submit', 'max.jobs.per.submitted'],
  ['group.accruing', 'max.jobs.per.accruing'],
  ['group.wallMinutes', 'max.per.account.wall_clock'],
  ['perMember.jobs', 'max.jobs.active'],
  ['perMember.submit', 'max.jobs.total'],
  ['perMember.accruing', 'max.jobs.accruing'],
  ['perJob.wallMinutes', 'max.jobs.per.wall_clock'],
  ['minPriority', 'min.priority_threshold'],
];
const counts: readonly (readonly [string, string])[] = [
  ['group.tres', 'max.tres.total'],
  ['group.tresMinutes', 'max.tres.group.minutes'],
  ['group.tresRunMinutes', 'max.tres.group.active'],
  ['perMember.tresRunMinutes', 'max.tres.minutes.total'],
  ['perJob.tresMinutes', 'max.tres.minutes.per.job'],
  ['perJob.tres', 'max.tres.per.job'],
  ['perJob.tresPerNode', 'max.tres.per.node'],
];

/** SLURMDB_FS_USE_PARENT */
const useParent = 0x7f_ff_ff_ff;

export interface WireAssociation {
  readonly account?: string;
  readonly cluster?: string;
  readonly user: string;
  readonly partition?: string;
  readonly parent_account?: string;
  readonly is_default?: boolean;
  readonly qos?: readonly string[];
  readonly default?: { readonly qos?: string };
  readonly shares_raw?: number;
  readonly priority?: WireNumber;
}

export function readAssociationRow(raw: WireAssociation): AssociationRow {
  const limits: Record<string, unknown> = {};
  for (const [place, wire] of numbers)
    put(limits, place, limitOf(at(raw, wire) as WireNumber | undefined) ?? 'infinite');
  for (const [place, wire] of counts) put(limits, place, readTresCounts(at(raw, wire)));
  return {
    cluster: raw.cluster ?? '',
    account: raw.account ?? '',
    user: raw.user,
    partition: raw.partition ?? '',
    parent: raw.user === '' ? (raw.parent_account ?? '') : '',
    // Slurm says the same of the row of an account, where it means nothing.
    isDefault: raw.user !== '' && raw.is_default === true,
    fairshare: raw.shares_raw === useParent ? 'parent' : (raw.shares_raw ?? 1),
    priority: limitOf(raw.priority) ?? 'infinite',
    qos: listOf(raw.qos).toSorted(),
    defaultQos: raw.default?.qos ?? '',
    limits: limits as unknown as AssociationRow['limits'], // every place of the table is a field of AssociationLimits; the contract compares them
  };
}

/** The request that makes the existing row equal to `desired`, except for what REST cannot empty. */
export function writeAssociationRow(desired: AssociationRow): Json {
  const limits: Record<string, unknown> = {};
  for (const [place, wire] of numbers)
    put(limits, wire, wireNumber((at(desired.limits, place) as Limit) ?? 'infinite'));
  for (const [place, wire] of counts)
    put(
      limits,
      wire,
      Object.entries((at(desired.limits, place) ?? {}) as Readonly<Record<string, number>>).map(
        ([tres, count]) => {
          const [type = '', ...name] = tres.split('/');
          return { type, name: name.join('/'), count };
        },
      ),
    );
  return {
    cluster: desired.cluster,
    account: desired.account,
    user: desired.user,
    partition: desired.partition,
    ...(desired.parent !== '' && { parent_account: desired.parent }),
    ...(desired.isDefault && { is_default: true }),
    shares_raw: desired.fairshare === 'parent' ? useParent : desired.fairshare,
    priority: wireNumber(desired.priority ?? 'infinite'),
    // An empty list changes nothing, and an empty name in it ends slurmrestd.
    ...(desired.qos.length > 0 && { qos: desired.qos }),
    default: { qos: desired.defaultQos },
    ...limits,
  };
}

/** Every TRES that the row limits. */
export const tresOfAssociation = (row: AssociationRow): readonly string[] => [
  ...new Set(counts.flatMap(([place]) => Object.keys(at(row.limits, place) ?? {}))),
];
