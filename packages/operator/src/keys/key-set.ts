/**
 * The keys of auth/slurm that daemons accept, and the one that they sign with, by their digests. It is kept as an annotation of the
 * operator's own Secret: the user's Secret has lost the old key when a change of it is seen. Pure.
 */
import { digestOf } from '../objects/digest.ts';

export interface KeySet {
  /** Digests of the keys that are accepted: one, or two while a key changes. */
  readonly keys: readonly string[];
  /** The one that messages are signed with. */
  readonly signing: string;
  /** When it was written; milliseconds. */
  readonly since: number;
  /** slurmctld has run with it, or with one before it: jobs may run. */
  readonly used: boolean;
  /** The digests of the sets before it, the last first: pods that were created with one of them name its file. */
  readonly before?: readonly string[];
}

/** A set is in force one step; a pod that is more steps behind was left there by force. */
const keptSets = 8;

export const formatKeySet = ({ keys, signing, since, used, before = [] }: KeySet): string =>
  JSON.stringify({ keys, signing, since: new Date(since).toISOString(), used, before });

/** Undefined for a text that the operator did not write. */
export function parseKeySet(text: string | undefined): KeySet | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  const { keys, signing, since, used, before } = (value ?? {}) as Partial<Record<keyof KeySet, unknown>>;
  const at = Date.parse(String(since));
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string') || Number.isNaN(at))
    return undefined;
  return typeof signing === 'string' && keys.includes(signing)
    ? {
        keys,
        signing,
        since: at,
        used: used !== false,
        before: Array.isArray(before) ? before.filter((one) => typeof one === 'string') : [],
      }
    : undefined;
}

/** What slurmctld and workers must have read. With one key it is the digest of that key. */
export const daemonHash = ({ keys, signing }: Pick<KeySet, 'keys' | 'signing'>): string =>
  keys.length === 1 ? signing : digestOf({ keys, signing });

/**
 * What login nodes, which read their keys only when they start, must have read. Which key they sign with does not matter as long as both
 * are accepted: a step that changes only this ends no sessions.
 */
export const loginHash = ({ keys, signing }: Pick<KeySet, 'keys' | 'signing'>): string =>
  keys.length === 1 ? signing : digestOf({ keys });

/** The set that follows another one, with what pods of earlier sets need. */
export const following = (next: KeySet, current: KeySet | undefined): KeySet => {
  const names =
    current === undefined ? [] : [daemonHash(current), loginHash(current), ...(current.before ?? [])];
  const own = [daemonHash(next), loginHash(next)];
  return { ...next, before: [...new Set(names)].filter((name) => !own.includes(name)).slice(0, keptSets) };
};
