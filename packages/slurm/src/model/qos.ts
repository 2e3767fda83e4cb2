/** A quality of service, complete: what `sacctmgr show qos` has, in one shape for every API version. */
import type { Limit } from '../wire/values.ts';

/** Counts by TRES, named as Slurm does: `cpu`, `mem`, `node`, `billing`, `gres/gpu`, `license/matlab`. */
export type TresCounts = Readonly<Record<string, number>>;

/** Flags of a QOS as the REST API spells them. */
export const qosFlags = [
  'PARTITION_MINIMUM_NODE',
  'PARTITION_MAXIMUM_NODE',
  'PARTITION_TIME_LIMIT',
  'ENFORCE_USAGE_THRESHOLD',
  'NO_RESERVE',
  'REQUIRED_RESERVATION',
  'DENY_LIMIT',
  'OVERRIDE_PARTITION_QOS',
  'PARTITION_QOS',
  'NO_DECAY',
  'USAGE_FACTOR_SAFE',
  'RELATIVE',
] as const;
export type QosFlag = (typeof qosFlags)[number];

/** `cluster`: what PreemptMode of slurm.conf says. */
export const qosPreemptModes = ['cluster', 'suspend', 'requeue', 'cancel', 'gang'] as const;
export type QosPreemptMode = (typeof qosPreemptModes)[number];

export interface SlurmQos {
  readonly name: string;
  readonly id: number | undefined;
  readonly description: string;
  readonly flags: readonly QosFlag[];
  readonly priority: number;
  readonly graceSeconds: number;
  readonly preempts: readonly string[];
  readonly preemptMode: readonly QosPreemptMode[];
  readonly preemptExemptSeconds: Limit;
  readonly usageFactor: number;
  readonly usageThreshold: Limit;
  readonly limitFactor: Limit;
  readonly limits: QosLimits;
}

/** A limit that is not set is `infinite`; a TRES that is not limited is left out. */
export interface QosLimits {
  /** All jobs of the QOS together. */
  readonly group: QosShare & { readonly tresMinutes: TresCounts; readonly wallMinutes: Limit };
  readonly perUser: QosShare;
  readonly perAccount: QosShare;
  readonly perJob: {
    readonly tres: TresCounts;
    readonly tresPerNode: TresCounts;
    readonly tresMinutes: TresCounts;
    readonly minTres: TresCounts;
    readonly wallMinutes: Limit;
  };
  readonly minPriority: Limit;
}

/** Limits that exist for the QOS as a whole, for each user and for each account. */
export interface QosShare {
  /** Running jobs. */
  readonly jobs: Limit;
  /** Running and pending jobs. */
  readonly submit: Limit;
  /** Pending jobs that gain age priority. */
  readonly accruing: Limit;
  readonly tres: TresCounts;
  /** TRES minutes that running jobs may still use. */
  readonly tresRunMinutes: TresCounts;
}

const noShare: QosShare = {
  jobs: 'infinite',
  submit: 'infinite',
  accruing: 'infinite',
  tres: {},
  tresRunMinutes: {},
};

/** A QOS as Slurm creates it when only its name is given. */
export function emptyQos(name: string): SlurmQos {
  return {
    name,
    id: undefined,
    description: '',
    flags: [],
    priority: 0,
    graceSeconds: 0,
    preempts: [],
    preemptMode: ['cluster'],
    preemptExemptSeconds: 'infinite',
    usageFactor: 1,
    usageThreshold: 'infinite',
    limitFactor: 'infinite',
    limits: {
      group: { ...noShare, tresMinutes: {}, wallMinutes: 'infinite' },
      perUser: noShare,
      perAccount: noShare,
      perJob: { tres: {}, tresPerNode: {}, tresMinutes: {}, minTres: {}, wallMinutes: 'infinite' },
      minPriority: 'infinite',
    },
  };
}
