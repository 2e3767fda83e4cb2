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
}

export const formatKeySet = ({ keys, signing, since, used }: KeySet): string =>
  JSON.stringify({ keys, signing, since: new Date(since).toISOString(), used });

/** Undefined for a text that the operator did not write. */
export function parseKeySet(text: string | undefined): KeySet | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
  const { keys, signing, since, used } = (value ?? {}) as Partial<Record<keyof KeySet, unknown>>;
  const at = Date.parse(String(since));
  if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string') || Number.isNaN(at))
    return undefined;
  return typeof signing === 'string' && keys.includes(signing)
    ? { keys, signing, since: at, used: used !== false }
    : undefined;
}

/** What slurmctld and workers must have read. With one key it is the digest of that key. */
export const daemonHash = ({ keys, signing }: Pick<KeySet, 'keys' | 'signing'>): string =>
  keys.length === 1 ? signing : digestOf({ keys, signing });

/**
 * What slurmdbd and login nodes, which read their keys only when they start, must have read. Which key they sign with does not matter as
 * long as both are accepted: it does not restart them.
 */
export const clientHash = ({ keys, signing }: Pick<KeySet, 'keys' | 'signing'>): string =>
  keys.length === 1 ? signing : digestOf({ keys });
