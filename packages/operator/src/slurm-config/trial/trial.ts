/** Whether a configuration may be put in force, and what its trial needs next. Pure. */
import { annotation } from '@slurm-operator/api';
import type { TrialResult } from './trial-report.ts';
import { partOnNode, type TrialGroup, type TrialPart, trialParts } from './trial-worker.ts';

/** A pod in which a configuration is tried, as far as it is known. */
export interface Trial {
  readonly name: string;
  /** The part of the trial that it is. */
  readonly part: string;
  /** The configuration that it is about. */
  readonly digest: string;
  readonly uid: string;
  readonly phase: string;
  /** A pod may also end for reasons that say nothing about what it tried: evicted, too late, out of memory. */
  readonly result: TrialResult | undefined;
  /** Why it does not begin, or why it ended without a result. */
  readonly message: string | undefined;
  readonly createdAt: number;
  /** When its deletion was asked for. */
  readonly deletedAt: number | undefined;
  readonly node: string | undefined;
  /** Its node does not answer. */
  readonly isLost: boolean;
}

export interface TrialInput {
  /** The desired configuration. */
  readonly digest: string;
  /** The one that slurmctld was last told to read; undefined before the first. */
  readonly inForce: string | undefined;
  readonly trials: readonly Trial[];
  /** Workers that run now. */
  readonly groups: readonly TrialGroup[];
  /** A person has asked to put exactly this configuration in force without a trial. */
  readonly skip?: boolean;
  readonly now: number;
}

export type TrialDecision =
  /** Write it and have it read; the trials have served. */
  | { readonly kind: 'enforce'; readonly cleanUp: readonly Trial[] }
  | {
      readonly kind: 'try';
      readonly start: readonly TrialPart[];
      /** Pods of another configuration, and those that will never give a result. */
      readonly remove: readonly Trial[];
      /** What a person should know. */
      readonly message?: string;
      /** When to look again, in case nothing changes before. */
      readonly again?: number;
    }
  | { readonly kind: 'reject'; readonly by: 'slurmctld' | 'slurmd'; readonly message: string };

/** What ends at once would end at once again. */
const tryAgainAfter = 30_000;
/** What failed on a node like that of the workers needs a change there. */
const tryNodeAgainAfter = 600_000;
/** A pod that is still there this long after its deletion is on a node that does not answer. */
const forceAfter = 30_000;

interface Step {
  readonly start?: TrialPart;
  readonly remove?: Trial;
  readonly message?: string;
  readonly again?: number;
  readonly result?: TrialResult;
  readonly trial?: Trial;
}

export function decideTrial({
  digest,
  inForce,
  trials,
  groups,
  skip = false,
  now,
}: TrialInput): TrialDecision {
  const leftovers = trials.filter(({ deletedAt }) => deletedAt === undefined);
  // The first one can harm no job, and slurmctld itself reports what it refuses. Every other one is tried, also while
  // slurmctld is down: a slurmctld that is only slow to answer looks the same.
  if (inForce === undefined || inForce === digest) return { kind: 'enforce', cleanUp: leftovers };
  const step = (part: TrialPart) => stepOf(part, trials, digest, now);
  const first = trialParts(groups).map((part) => ({ part, ...step(part) }));
  const onNodes = first
    .flatMap(({ result }) => (result?.kind === 'undecided' ? result.workers : []))
    // A group that has no workers any more needs no answer.
    .flatMap(({ id }) => groups.filter((group) => group.id === id))
    .map(partOnNode)
    .map((part) => ({ part, ...onNode(step(part), now) }));
  const steps = [...first, ...onNodes];
  const refusals = steps.flatMap(({ result }) => (result?.kind === 'refused' ? [result] : []));
  const refusal = refusals.find(({ by }) => by === 'slurmctld') ?? refusals[0];
  // The trial of a slurmd may be wrong about a worker, but slurmctld ends for certain with what it refuses.
  if (skip && refusal?.by !== 'slurmctld') return { kind: 'enforce', cleanUp: leftovers };
  if (refusal !== undefined) return { kind: 'reject', by: refusal.by, message: refusal.message };
  const needed = new Set(steps.map(({ part }) => part.id));
  const stale = leftovers.filter((trial) => !needed.has(trial.part));
  const isDone = (one: Step) => one.result?.kind === 'passed' || one.result?.kind === 'undecided';
  if (steps.every(isDone)) return { kind: 'enforce', cleanUp: stale };
  const message = steps.find((one) => one.message !== undefined)?.message;
  const again = steps.flatMap((one) => one.again ?? []);
  return {
    kind: 'try',
    start: steps.flatMap((one) => one.start ?? []),
    remove: [...steps.flatMap((one) => one.remove ?? []), ...stale],
    ...(message === undefined ? {} : { message }),
    ...(again.length === 0 ? {} : { again: Math.min(...again) }),
  };
}

function stepOf(part: TrialPart, trials: readonly Trial[], digest: string, now: number): Step {
  const trial = trials.find((one) => one.part === part.id);
  if (trial === undefined) return { start: part };
  const { deletedAt, result, message } = trial;
  if (deletedAt !== undefined) {
    if (now < deletedAt + forceAfter) return { again: deletedAt + forceAfter };
    return { remove: trial, message: `pod ${trial.name} of an earlier trial does not end${onIts(trial)}` };
  }
  if (trial.digest !== digest) return { remove: trial };
  if (result !== undefined) return { result, trial };
  if (trial.isLost) return { remove: trial, message: `pod ${trial.name} has no result${onIts(trial)}` };
  if (trial.phase !== 'Failed') return message === undefined ? {} : { message };
  return removeAfter(trial, tryAgainAfter, message, now);
}

/** Where even the resources of a worker are not enough to tell, nothing is put in force, and it is tried again much later. */
function onNode(step: Step, now: number): Step {
  const { result, trial } = step;
  if (result?.kind !== 'undecided' || trial === undefined) return step;
  const words = `${result.workers[0]?.message ?? 'slurmd failed'}. It fails with the configuration in force too, also in a pod with the resources of a worker`;
  return removeAfter(trial, tryNodeAgainAfter, words, now);
}

function removeAfter(trial: Trial, after: number, message: string | undefined, now: number): Step {
  const words = message === undefined ? {} : { message };
  const at = trial.createdAt + after;
  return now >= at ? { remove: trial, ...words } : { again: at, ...words };
}

const onIts = ({ node, isLost }: Trial): string =>
  node === undefined ? '' : ` on node ${node}${isLost ? ', which does not answer' : ''}`;

/** By this a person names the configuration that needs no trial: short enough to type, and of no use for the next one. */
export const skipToken = (digest: string): string => digest.slice(0, 12);

interface Named {
  readonly name: string;
  readonly namespace: string;
}

const skipCommand = ({ name, namespace }: Named, digest: string): string =>
  `kubectl annotate controller ${name} -n ${namespace} --overwrite ${annotation.skipConfigTrial}=${skipToken(digest)}`;

/** What a refusal means, in the words of the daemon that refused. */
export function describeRejection(
  { by, message }: Extract<TrialDecision, { kind: 'reject' }>,
  controller: Named,
  digest: string,
): string {
  return by === 'slurmd'
    ? `Workers would exit with the new configuration, so the old one stays in use: ${message}. Correct extraConf or the file that the error names. If workers have something that the trial lacks, apply it anyway: ${skipCommand(controller, digest)}`
    : `slurmctld rejects the new configuration, so the old one stays in use: ${message}`;
}

/** Why a trial has come to no result; undefined while there is nothing to complain about. */
export function describeUntried(
  decision: TrialDecision,
  controller: Named,
  digest: string,
): string | undefined {
  if (decision.kind !== 'try' || decision.message === undefined) return undefined;
  return `The new configuration could not be tried yet, so the old one stays in use: ${decision.message.replace(/\.$/, '')}. The operator retries automatically. To apply it without a trial: ${skipCommand(controller, digest)}`;
}
