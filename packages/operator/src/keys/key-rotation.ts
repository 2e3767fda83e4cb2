/**
 * A change of slurm.key in three steps, none of which costs a job: every daemon accepts both keys and signs with the old one; every daemon
 * signs with the new one; the old one is dropped. Two daemons that are one step apart understand each other, so each step begins when
 * every daemon has taken the one before. Each step is one write of one Secret: a crash in between loses nothing. Pure.
 */
import { annotation, type Controller } from '@slurm-operator/api';
import type { Read } from '../objects/read.ts';
import { clientHash, daemonHash, type KeySet } from './key-set.ts';

/** A pod that has keys. */
export interface KeyHolder {
  readonly name: string;
  readonly role: 'slurmctld' | 'client' | 'worker';
  /** The digest of the keys that it was started with, or last notified of. */
  readonly hash: string | undefined;
  /** Its main container runs. */
  readonly running: boolean;
  /** Of slurmctld: it responds. */
  readonly ready?: boolean;
  /** Its node, when that does not respond: its kubelet writes no files. */
  readonly lostWith?: string | undefined;
  /** When it was notified of these keys; undefined for one that was started with them. */
  readonly toldAt?: number | undefined;
  /** It was created without the file that holds several keys. */
  readonly hasOneKey?: boolean;
}

export interface RotationInput {
  readonly controller: Read<Controller>;
  /** The digest of the user's key; empty while it is missing. */
  readonly desired: string;
  /** What is in force; undefined before the first write. */
  readonly current: KeySet | undefined;
  readonly holders: readonly KeyHolder[];
  /** The workload of slurmctld exists. */
  readonly exists: boolean;
  /** Milliseconds from the notification of a worker until its slurmd has read the new file for certain. */
  readonly readWithin: number;
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
  const only: KeySet = { keys: [desired], signing: desired, since: now, used: false };
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
      keySet: next,
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
function blockers({ holders, now, readWithin, controller }: RotationInput, current: KeySet): string[] {
  const wanted = { slurmctld: daemonHash(current), worker: daemonHash(current), client: clientHash(current) };
  const { name } = controller.metadata;
  if (!holders.some(({ role, running }) => role === 'slurmctld' && running))
    return [`slurmctld of ${name}, which does not run`];
  return holders.flatMap((holder): string[] => {
    const { name: pod, role, hash, running, lostWith, toldAt, hasOneKey } = holder;
    if (hasOneKey === true)
      return [
        `pod ${pod}, which an older version of the operator created: it can read one key only, delete it when it is idle`,
      ];
    if (hash !== wanted[role]) return [`pod ${pod}, which has older keys`];
    if (lostWith !== undefined) return [`pod ${pod}: its node ${lostWith} does not respond`];
    if (role !== 'worker') return running ? [] : [`pod ${pod}, which does not run`];
    const readAt = (toldAt ?? current.since) + readWithin;
    return readAt <= now
      ? []
      : [`pod ${pod}, which reads the new file by ${new Date(readAt).toISOString().slice(11, 19)} UTC`];
  });
}

const tokenOf = (desired: string): string => desired.slice(0, 12);

const isForced = ({ controller, desired }: RotationInput): boolean =>
  controller.metadata.annotations?.[annotation.forceKey] === tokenOf(desired);

const forceHint = ({ controller: { metadata }, desired }: RotationInput): string =>
  `Not to wait for anything, which may cost jobs: kubectl annotate controller ${metadata.name} -n ${metadata.namespace} --overwrite ${annotation.forceKey}=${tokenOf(desired)}`;
