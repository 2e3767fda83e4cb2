/** Whether a configuration may be put in force. Pure. */

/** The pod in which a configuration is tried, as far as it is known. */
export interface Trial {
  /** The configuration that it is about. */
  readonly digest: string;
  readonly uid: string;
  readonly phase: string;
  /** slurmctld refused it. A pod may also end for reasons that say nothing about what it tried: evicted, too late, out of memory. */
  readonly refused: boolean;
  /** The last words of whoever ended it; or why it does not begin. */
  readonly message: string | undefined;
  readonly terminating: boolean;
  readonly createdAt: number;
}

export interface TrialInput {
  /** The configuration that is wanted. */
  readonly digest: string;
  /** The one that slurmctld was last told to read; undefined before the first. */
  readonly inForce: string | undefined;
  readonly trial: Trial | undefined;
}

export type TrialDecision =
  /** Write it and have it read. `cleanUp`: the trial has served. */
  | { readonly kind: 'enforce'; readonly cleanUp: Trial | undefined }
  | { readonly kind: 'start' }
  /** A trial of something else is in the way; or one that ended without a verdict, and then not before its time. */
  | {
      readonly kind: 'replace';
      readonly trial: Trial;
      readonly notBefore?: number;
      readonly message?: string;
    }
  | { readonly kind: 'wait'; readonly message?: string }
  | { readonly kind: 'reject'; readonly message: string };

/** What ends at once would end at once again. */
const tryAgainAfter = 30_000;

export function decideTrial({ digest, inForce, trial }: TrialInput): TrialDecision {
  // The first one hurts nobody, and slurmctld says itself what it does not like. Every other one is tried, also while
  // slurmctld is down: a slurmctld that is only slow to answer looks the same.
  if (inForce === undefined || inForce === digest) return { kind: 'enforce', cleanUp: trial };
  if (trial === undefined) return { kind: 'start' };
  if (trial.terminating) return { kind: 'wait' };
  if (trial.digest !== digest) return { kind: 'replace', trial };
  if (trial.phase === 'Succeeded') return { kind: 'enforce', cleanUp: undefined };
  const words = trial.message === undefined ? {} : { message: trial.message };
  if (trial.phase === 'Failed' && !trial.refused)
    return { kind: 'replace', trial, notBefore: trial.createdAt + tryAgainAfter, ...words };
  if (trial.phase === 'Failed')
    return { kind: 'reject', message: trial.message ?? 'slurmctld ended without a word' };
  return { kind: 'wait', ...words };
}
