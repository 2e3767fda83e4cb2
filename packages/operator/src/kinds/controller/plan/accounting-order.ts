/**
 * slurmdbd goes before slurmctld. It is upgraded first, because slurmctld does not support an older one; and a slurmctld that ran without
 * accounting learns of slurmdbd only when that is there. Pure.
 */
import { isOlder, type SlurmVersion, slurmVersionOf } from '../../../objects/slurm-version.ts';

/** The workload of one daemon, as far as it is known. */
export interface Runs {
  /** What its pods are started from; undefined when there is no such workload yet. */
  readonly image: string | undefined;
  /** Pods of an older template are still there, or the new ones are not ready. */
  readonly updating: boolean;
}

export interface Hold {
  readonly message: string;
  /** Temporary: slurmdbd is starting. */
  readonly passing: boolean;
}

export interface AccountingStartInput {
  /** The slurm.conf that slurmctld runs with is known to name no slurmdbd. */
  readonly without: boolean;
  readonly slurmdbd: Runs & { readonly name: string };
}

/**
 * Why a slurmctld that runs without accounting must go on without it for now. slurmctld registers its cluster once, when it starts with, or
 * reads, a slurm.conf that names slurmdbd. Without a slurmdbd to register with it continues, if it has saved a state: then slurmdbd
 * never hears of the cluster and takes none of its records, and nothing says so.
 */
export function accountingStart({ without, slurmdbd }: AccountingStartInput): Hold | undefined {
  if (!without || (slurmdbd.image !== undefined && !slurmdbd.updating)) return undefined;
  return {
    message: `slurmctld continues without accounting until slurmdbd of Accounting ${slurmdbd.name} is ready.`,
    passing: true,
  };
}

export interface AccountingOrderInput {
  /** The image that slurmctld is to have. */
  readonly wanted: string;
  readonly slurmctld: Runs;
  /** Its Accounting: the image that its specification asks for, and what runs. */
  readonly slurmdbd: Runs & { readonly name: string; readonly wanted: string };
}

/** Why slurmctld may not have that image yet; undefined when it may. A version that no tag tells holds nothing. */
export function accountingHold({ wanted, slurmctld, slurmdbd }: AccountingOrderInput): Hold | undefined {
  const goal = slurmVersionOf(wanted);
  const below = slurmVersionOf(slurmdbd.image ?? slurmdbd.wanted);
  if (goal === undefined || below === undefined) return undefined;
  const order = 'Slurm is upgraded in the order slurmdbd, slurmctld, slurmd';
  if (isOlder(below, goal))
    return {
      message: `the image of slurmctld has Slurm ${text(goal)}, but slurmdbd of Accounting ${slurmdbd.name} runs ${text(below)}: ${order}. Upgrade the Accounting first; slurmctld follows automatically.`,
      passing: false,
    };
  // A first slurmctld may start beside a slurmdbd that starts; a running one waits until the new slurmdbd is ready.
  const now = slurmVersionOf(slurmctld.image);
  if (now !== undefined && isOlder(now, goal) && slurmdbd.updating)
    return {
      message: `the upgrade of slurmctld to Slurm ${text(goal)} waits until slurmdbd of Accounting ${slurmdbd.name} has been upgraded: ${order}.`,
      passing: true,
    };
  return undefined;
}

const text = ({ major, minor }: SlurmVersion): string => `${major}.${String(minor).padStart(2, '0')}`;
