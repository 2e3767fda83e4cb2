/**
 * A QOS between the model and the wire. One table says where each limit is in Slurm's JSON, so that reading and writing cannot
 * differ. Pure.
 *
 * What a write must know (contract suite, "writing a QOS"): a scalar or a TRES that is left out stays as it is, but flags and the
 * preempt mode that are left out are reset. So a write sends everything, and names each TRES that it removes with the count -1.
 */

import {
  emptyQos,
  type QosFlag,
  type QosPreemptMode,
  qosFlags,
  type SlurmQos,
  type TresCounts,
} from '../model/qos.ts';
import { type Limit, limitOf, listOf, numberOf, type WireNumber, wireNumber } from '../wire/values.ts';
import { at, put } from './paths.ts';

type Json = Readonly<Record<string, unknown>>;

/** Places of limits below `limits`: [in the model, on the wire]. */
const numbers: readonly (readonly [string, string])[] = [
  ['group.jobs', 'max.active_jobs.count'],
  ['group.accruing', 'max.active_jobs.accruing'],
  ['group.submit', 'max.jobs.count'],
  ['group.wallMinutes', 'max.wall_clock.per.qos'],
  ['perUser.jobs', 'max.jobs.active_jobs.per.user'],
  ['perUser.submit', 'max.jobs.per.user'],
  ['perUser.accruing', 'max.accruing.per.user'],
  ['perAccount.jobs', 'max.jobs.active_jobs.per.account'],
  ['perAccount.submit', 'max.jobs.per.account'],
  ['perAccount.accruing', 'max.accruing.per.account'],
  ['perJob.wallMinutes', 'max.wall_clock.per.job'],
  ['minPriority', 'min.priority_threshold'],
];
const counts: readonly (readonly [string, string])[] = [
  ['group.tres', 'max.tres.total'],
  ['group.tresMinutes', 'max.tres.minutes.total'],
  ['group.tresRunMinutes', 'max.tres.minutes.per.qos'],
  ['perUser.tres', 'max.tres.per.user'],
  ['perUser.tresRunMinutes', 'max.tres.minutes.per.user'],
  ['perAccount.tres', 'max.tres.per.account'],
  ['perAccount.tresRunMinutes', 'max.tres.minutes.per.account'],
  ['perJob.tres', 'max.tres.per.job'],
  ['perJob.tresPerNode', 'max.tres.per.node'],
  ['perJob.tresMinutes', 'max.tres.minutes.per.job'],
  ['perJob.minTres', 'min.tres.per.job'],
];

/** Limits that v0.0.41 has no place for: it ignores them with a warning. */
const missingIn41 = ['group.submit', 'group.tresMinutes'];

/** What every version has of a QOS; the limits are read by path. */
export interface WireQos {
  readonly name?: string;
  readonly description?: string;
  readonly id?: number;
  readonly flags?: readonly string[];
  readonly priority?: WireNumber;
  readonly usage_factor?: WireNumber;
  readonly usage_threshold?: WireNumber;
  readonly limits?: { readonly grace_time?: number; readonly factor?: WireNumber };
  readonly preempt?: {
    readonly list?: readonly string[];
    readonly mode?: readonly string[];
    readonly exempt_time?: WireNumber;
  };
}

export function readQos(raw: WireQos): SlurmQos {
  const limits: Record<string, unknown> = {};
  for (const [place, wire] of numbers)
    put(limits, place, limitOf(at(raw.limits, wire) as WireNumber | undefined) ?? 'infinite');
  for (const [place, wire] of counts) put(limits, place, readTresCounts(at(raw.limits, wire)));
  const empty = emptyQos(raw.name ?? '');
  return {
    ...empty,
    id: raw.id,
    description: raw.description ?? '',
    flags: listOf(raw.flags).filter((flag): flag is QosFlag => qosFlags.some((known) => known === flag)),
    priority: numberOf(raw.priority) ?? 0,
    graceSeconds: raw.limits?.grace_time ?? 0,
    preempts: listOf(raw.preempt?.list),
    preemptMode: readModes(raw.preempt?.mode),
    preemptExemptSeconds: limitOf(raw.preempt?.exempt_time) ?? 'infinite',
    usageFactor: numberOf(raw.usage_factor) ?? 1,
    usageThreshold: limitOf(raw.usage_threshold) ?? 'infinite',
    limitFactor: limitOf(raw.limits?.factor) ?? 'infinite',
    limits: limits as unknown as SlurmQos['limits'], // every place of the table is a field of QosLimits; a test compares them
  };
}

/** The request that makes `current` (undefined: there is none) equal to `desired`, except for a preempt list that becomes empty. */
export function writeQos(desired: SlurmQos, current: SlurmQos | undefined): Json {
  const limits: Record<string, unknown> = {};
  for (const [place, wire] of numbers)
    put(limits, wire, wireNumber((at(desired.limits, place) as Limit) ?? 'infinite'));
  for (const [place, wire] of counts) {
    const before = (at(current?.limits, place) ?? {}) as TresCounts;
    put(limits, wire, writeTresCounts(at(desired.limits, place) as TresCounts, before));
  }
  return {
    name: desired.name,
    description: desired.description,
    flags: desired.flags,
    priority: wireNumber(desired.priority),
    usage_factor: wireNumber(desired.usageFactor),
    usage_threshold: wireNumber(desired.usageThreshold ?? 'infinite'),
    limits: {
      ...limits,
      grace_time: desired.graceSeconds,
      factor: wireNumber(desired.limitFactor ?? 'infinite'),
    },
    preempt: {
      ...(desired.preempts.length > 0 && { list: desired.preempts }),
      mode: desired.preemptMode.map((mode) => (mode === 'cluster' ? 'DISABLED' : mode.toUpperCase())),
      exempt_time: wireNumber(desired.preemptExemptSeconds ?? 'infinite'),
    },
  };
}

/** Places of limits that are set and that v0.0.41 cannot write. */
export function limitsMissingIn41(qos: SlurmQos): readonly string[] {
  return missingIn41.filter((place) => {
    const value = at(qos.limits, place);
    return typeof value === 'object' ? Object.keys(value ?? {}).length > 0 : typeof value === 'number';
  });
}

export function readTresCounts(wire: unknown): TresCounts {
  const found: Record<string, number> = {};
  for (const { type, name = '', count } of (wire ?? []) as WireTres[])
    if (typeof count === 'number' && count >= 0) found[name === '' ? type : `${type}/${name}`] = count;
  return found;
}

/** Slurm merges the TRES of a QOS with those it has: only a count of -1 removes one. */
function writeTresCounts(desired: TresCounts, current: TresCounts): readonly WireTres[] {
  const removed = Object.keys(current).filter((tres) => desired[tres] === undefined);
  return [...Object.entries(desired), ...removed.map((tres) => [tres, -1] as const)].map(([tres, count]) => {
    const [type = '', ...name] = tres.split('/');
    return { type, name: name.join('/'), count };
  });
}

interface WireTres {
  readonly type: string;
  readonly name?: string;
  readonly count?: number;
}

function readModes(wire: readonly string[] | undefined): readonly QosPreemptMode[] {
  const modes = listOf(wire)
    .filter((mode) => mode !== 'DISABLED')
    .map((mode) => mode.toLowerCase() as QosPreemptMode);
  return modes.length === 0 ? ['cluster'] : modes;
}
