/**
 * A change of slurm.key in three steps, none of which costs a job: every daemon accepts both keys and signs with the old one; every daemon
 * signs with the new one; the old one is dropped. Two daemons that are one step apart understand each other, so each step begins when
 * every daemon is known to have read the one before. Each step is one write of one Secret: a crash in between loses nothing. Pure.
 */
import { annotation, type Controller } from '@slurm-operator/api';
import type { Read } from '../objects/read.ts';
import { daemonHash, following, type KeySet, loginHash } from './key-set.ts';

export type KeyRole = 'slurmctld' | 'slurmdbd' | 'login' | 'worker';

/** A pod that has keys. */
export interface KeyHolder {
  readonly name: string;
  readonly role: KeyRole;
  /**
   * The digest of the keys that it was created with, or last notified of. slurmctld, slurmdbd and login nodes start with exactly these
   * (their pods name the file of this digest); workers read them later.
   */
  readonly hash: string | undefined;
  /** Its main container runs. */
  readonly running: boolean;
  /** Of slurmctld: it responds. */
  readonly ready?: boolean;
  /** Its node, when that does not respond. */
  readonly lostWith?: string | undefined;
  /** Of a worker: it has a node. */
  readonly scheduled?: boolean;
  /** Of a worker: the keys that its slurmd reported to have read; undefined while that is unknown. */
  readonly read?: string | undefined;
  /** Of a worker: why its report could not be read. */
  readonly unreadable?: string | undefined;
  /** Of a worker: it was created without the file that holds several keys. */
  readonly hasOneKey?: boolean;
}

export interface RotationInput {
  readonly controller: Read<Controller>;
  /** The digest of the user's key; empty while it is missing. */
  readonly desired: string;
  /** What is in force; undefined before the first write. */
  readonly current: KeySet | undefined;
  readonly holders: readonly KeyHolder[];
  /** How many pods there should be. One that is missing may start at any moment. */
  readonly wanted: Readonly<Record<Exclude<KeyRole, 'worker'>, number>>;
  /** The workload of slurmctld exists. */
  readonly exists: boolean;
  /** Milliseconds between two steps, at least: for daemons that the operator does not see. */
  readonly stepPeriod: number;
  readonly now: number;
}

export interface KeyRotation {
  /** What should be in force from now on. */
  readonly keySet: KeySet | undefined;
  /** It differs from what is in force. */
  readonly write: boolean;
  /** What is under way and what it waits for; undefined when nothing is. */
  readonly waiting: string | undefined;
  readonly againAt: number | undefined;
}

/** While it waits for pods: their changes are not all watched. */
const pollMs = 5_000;

export function planKeyRotation(input: RotationInput): KeyRotation {
  const { current, desired, exists, holders, now } = input;
  const idle = { keySet: current, write: false, waiting: undefined, againAt: undefined };
  if (desired === '') return idle;
  const only = following({ keys: [desired], signing: desired, since: now, used: false }, current);
  const answers = holders.some(({ role, ready }) => role === 'slurmctld' && ready === true);
  if (current === undefined) return { ...idle, keySet: { ...only, used: exists }, write: true };
  // Before the first job a wrong key is simply replaced.
  if (!current.used && !answers)
    return daemonHash(current) === desired ? idle : { ...idle, keySet: only, write: true };
  if (!current.used) return { ...idle, keySet: { ...current, used: true }, write: true };
  const next = nextStep(current, desired, now);
  if (next === undefined) return idle;
  const blocked = isForced(input) ? [] : blockers(input, current);
  const [first] = blocked;
  if (first === undefined) {
    const step = stepOf(next, desired);
    return {
      keySet: following(next, current),
      write: true,
      waiting: step === undefined ? undefined : `${step}.`,
      againAt: now + pollMs,
    };
  }
  const more = blocked.length === 1 ? '' : ` and for ${blocked.length - 1} more`;
  return {
    keySet: current,
    write: false,
    waiting: `${stepOf(current, desired) ?? 'A new slurm.key waits'}. It waits for ${first}${more}. ${forceHint(input)}`,
    againAt: now + pollMs,
  };
}

/** A third key replaces the second one while nothing signs with that, and waits otherwise. */
function nextStep({ keys, signing }: KeySet, desired: string, now: number): KeySet | undefined {
  const [first = ''] = keys;
  const step = (accepted: readonly string[], signs: string): KeySet => ({
    keys: accepted,
    signing: signs,
    since: now,
    used: true,
  });
  if (keys.length === 1) return first === desired ? undefined : step([first, desired], first);
  if (signing !== first) return step([signing], signing);
  if (desired === first) return step([first], first);
  return keys.includes(desired) ? step(keys, desired) : step([first, desired], first);
}

function stepOf({ keys, signing }: KeySet, desired: string): string | undefined {
  if (keys.length === 1) return signing === desired ? undefined : 'A new slurm.key waits';
  return signing === keys[0]
    ? 'Change of slurm.key, step 1 of 3: every daemon learns to accept the new key beside the old one'
    : 'Change of slurm.key, step 2 of 3: every daemon begins to sign with the new key';
}

/** What keeps the next step from beginning, one phrase each. */
function blockers(input: RotationInput, current: KeySet): string[] {
  const { holders, now, stepPeriod, wanted } = input;
  const hash = (role: KeyRole) => (role === 'login' ? loginHash(current) : daemonHash(current));
  const missing = (['slurmctld', 'slurmdbd', 'login'] as const).flatMap((role) => {
    const found = holders.filter((holder) => holder.role === role).length;
    return found < wanted[role] ? [`pods of ${podsOf[role]}: ${found} of ${wanted[role]} exist`] : [];
  });
  const behind = holders.flatMap((holder): string[] => {
    const { name, role, running, lostWith, scheduled, hasOneKey } = holder;
    if (hasOneKey === true)
      return [
        `pod ${name}, which an older version of the operator created: it can read one key only, delete it when it is idle`,
      ];
    if (holder.hash !== hash(role)) return [`pod ${name}, which has older keys`];
    if (lostWith !== undefined) return [`pod ${name}: its node ${lostWith} does not respond`];
    if (role !== 'worker') return running ? [] : [`pod ${name}, which does not run`];
    // Its slurmd starts with the keys of its annotation.
    if (scheduled !== true || !running) return [];
    // With one key there is nothing to learn: the daemons before it accepted and used that key.
    if (current.keys.length === 1 || holder.read === hash(role)) return [];
    return [
      `pod ${name}: its slurmd has not reported that it read the keys${holder.unreadable === undefined ? ' (if its image is not one of this project, replace the pod when it is idle)' : ` (${holder.unreadable})`}`,
    ];
  });
  const nextAt = current.since + stepPeriod;
  const early =
    nextAt <= now
      ? []
      : [
          `daemons that the operator does not see, which have until ${new Date(nextAt).toISOString().slice(11, 19)} UTC`,
        ];
  return [...missing, ...behind, ...early];
}

const podsOf = { slurmctld: 'slurmctld', slurmdbd: 'slurmdbd', login: 'login nodes' } as const;

const tokenOf = (desired: string): string => desired.slice(0, 12);

const isForced = ({ controller, desired }: RotationInput): boolean =>
  controller.metadata.annotations?.[annotation.forceKey] === tokenOf(desired);

const forceHint = ({ controller: { metadata }, desired }: RotationInput): string =>
  `Not to wait for anything, which may cost jobs: kubectl annotate controller ${metadata.name} -n ${metadata.namespace} --overwrite ${annotation.forceKey}=${tokenOf(desired)}`;
