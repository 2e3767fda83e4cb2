/** Whether a configuration may be put in force. Pure. */
import { annotation } from '@slurm-operator/api';

/** The pod in which a configuration is tried, as far as it is known. */
export interface Trial {
  /** The configuration that it is about. */
  readonly digest: string;
  readonly uid: string;
  readonly phase: string;
  /** slurmctld or a slurmd refused it. A pod may also end for reasons that say nothing about what it tried: evicted, too late, out of memory. */
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
  /** A person has asked to put exactly this configuration in force without a trial. */
  readonly skip?: boolean;
}

export type TrialDecision =
  /** Write it and have it read. `cleanUp`: the trial has served. */
  | {
      readonly kind: 'enforce';
      readonly cleanUp: Trial | undefined;
      /** What the trial could not find out. */
      readonly note?: string;
    }
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

/** slurmctld writes the result, and begins so where a slurmd is the one that refuses. */
const isOfWorker = (message: string | undefined): boolean => message?.startsWith('slurmd of image') === true;

export function decideTrial({ digest, inForce, trial, skip = false }: TrialInput): TrialDecision {
  // The first one hurts nobody, and slurmctld says itself what it does not like. Every other one is tried, also while
  // slurmctld is down: a slurmctld that is only slow to answer looks the same.
  if (inForce === undefined || inForce === digest) return { kind: 'enforce', cleanUp: trial };
  const refusedBySlurmctld = trial?.digest === digest && trial.refused && !isOfWorker(trial.message);
  // The trial of a slurmd may be wrong about a worker, but one of slurmctld ends with it for certain.
  if (skip && !refusedBySlurmctld) return { kind: 'enforce', cleanUp: trial };
  if (trial === undefined) return { kind: 'start' };
  if (trial.terminating) return { kind: 'wait' };
  if (trial.digest !== digest) return { kind: 'replace', trial };
  const words = trial.message === undefined ? {} : { message: trial.message };
  if (trial.phase === 'Succeeded')
    return {
      kind: 'enforce',
      cleanUp: undefined,
      ...(isOfWorker(trial.message) ? { note: trial.message ?? '' } : {}),
    };
  if (trial.phase === 'Failed' && !trial.refused)
    return { kind: 'replace', trial, notBefore: trial.createdAt + tryAgainAfter, ...words };
  if (trial.phase === 'Failed')
    return { kind: 'reject', message: trial.message ?? 'slurmctld exited without output' };
  return { kind: 'wait', ...words };
}

/** By this a person names the configuration that needs no trial: short enough to type, and of no use for the next one. */
export const skipToken = (digest: string): string => digest.slice(0, 12);

interface Named {
  readonly name: string;
  readonly namespace: string;
}

const skipCommand = ({ name, namespace }: Named, digest: string): string =>
  `kubectl annotate controller ${name} -n ${namespace} --overwrite ${annotation.skipConfigTrial}=${skipToken(digest)}`;

/** What a refusal means, in whose words. */
export function describeRejection(message: string, controller: Named, digest: string): string {
  return isOfWorker(message)
    ? `Workers would exit with the new configuration, so the old one stays in use: ${message}. Correct extraConf or the file that the error names. If workers have something that the trial lacks, apply it anyway: ${skipCommand(controller, digest)}`
    : `slurmctld rejects the new configuration, so the old one stays in use: ${message}`;
}

/** Why a trial has come to no result; undefined while there is nothing to complain about. */
export function describeUntried(
  decision: TrialDecision,
  controller: Named,
  digest: string,
): string | undefined {
  if (decision.kind !== 'wait' && decision.kind !== 'replace') return undefined;
  if (decision.message === undefined) return undefined;
  return `The new configuration could not be tried yet, so the old one stays in use: ${decision.message}. The operator retries automatically. To apply it without a trial: ${skipCommand(controller, digest)}`;
}
