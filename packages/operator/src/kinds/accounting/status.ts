/** What an Accounting says about itself: its pod, and what Slurm hears when it asks for accounting. */
import { type Accounting, conditionType } from '@slurm-operator/api';
import type { Cache, Live, Condition as StoredCondition } from '@slurm-operator/kube';
import { clusters, controllers } from '../../cache/resources.ts';
import { type Condition, type Problem, summaryConditions } from '../../framework/status/conditions.ts';
import { type PodFacts, podProblems } from '../../framework/status/pods.ts';

/** What the Clusters that keep their accounts here heard from it; empty while none has asked. */
export function slurmsAnswers(cache: Cache, namespace: string, accounting: string): StoredCondition[] {
  const names = new Set(
    cache
      .list(controllers, { namespace })
      .filter(({ spec }) => spec.accountingRef?.name === accounting)
      .map(({ metadata }) => metadata.name),
  );
  return cache
    .list(clusters, { namespace })
    .filter(({ spec }) => names.has(spec.controllerRef?.name ?? ''))
    .flatMap(({ status }) => status?.conditions ?? [])
    .filter(({ type, status }) => type === conditionType.databaseReachable && status !== 'Unknown');
}

export function externalConditions(
  { spec }: Live<Accounting>,
  answers: readonly StoredCondition[],
): Condition[] {
  const place = `${spec.externalConfig?.host ?? ''}:${spec.externalConfig?.port ?? ''}`;
  const refusal = answers.find(({ status }) => status === 'False');
  const problems: Problem[] =
    refusal === undefined
      ? []
      : [
          {
            reason: 'DatabaseUnreachable',
            message: `Slurm cannot use slurmdbd at ${place}: ${refusal.message}. Check that slurmdbd runs and can reach its database.`,
          },
        ];
  return summaryConditions(problems, `slurmdbd runs elsewhere, at ${place}; the operator starts none.`).map(
    (condition) =>
      condition.type === conditionType.ready && condition.status === 'True'
        ? { ...condition, reason: 'External' }
        : condition,
  );
}

export function ownConditions(
  { metadata, spec }: Live<Accounting>,
  problems: readonly Problem[],
  found: readonly PodFacts[],
  answers: readonly StoredCondition[],
): Condition[] {
  const place = `${spec.storageConfig?.host ?? ''}:${spec.storageConfig?.port ?? ''}`;
  const database = databaseCondition(found, place, answers);
  const pods = podProblems(
    found,
    metadata.namespace,
    `slurmdbd does not respond yet; it may be waiting for the database at ${place}.`,
  );
  const all: Problem[] = [
    ...problems,
    ...(database.status === 'False' ? [{ reason: database.reason, message: database.message }] : []),
    ...pods,
  ];
  return [...summaryConditions(all, 'slurmdbd answers.'), database];
}

/**
 * slurmdbd opens its port when it has its database, and logs in its last line when it never had; one that lost it later keeps
 * listening, and only a request shows it.
 */
function databaseCondition(
  found: readonly PodFacts[],
  place: string,
  answers: readonly StoredCondition[],
): Condition {
  const type = conditionType.databaseReachable;
  const refusal = answers.find(({ status }) => status === 'False');
  if (found.some((pod) => pod.ready)) {
    if (refusal !== undefined)
      return {
        type,
        status: 'False',
        reason: 'DatabaseUnreachable',
        message: `slurmdbd runs, but lost the connection to its database at ${place}: ${refusal.message}. Check that the database runs.`,
      };
    return {
      type,
      status: 'True',
      reason: 'Connected',
      message: `The database at ${place} ${answers.length === 0 ? 'responded when slurmdbd started' : 'responds'}.`,
    };
  }
  const words = found
    .map((pod) => pod.lastLogLine)
    .find((one) => one !== undefined && /mysql|database|storage/i.test(one));
  if (words === undefined)
    return {
      type,
      status: 'Unknown',
      reason: 'Starting',
      message: `It is unknown whether the database at ${place} responds.`,
    };
  return /denied|1045/i.test(words)
    ? {
        type,
        status: 'False',
        reason: 'DatabaseRefused',
        message: `the database at ${place} refuses the user or the password: ${words}. Correct the Secret, or the privileges of the user.`,
      }
    : {
        type,
        status: 'False',
        reason: 'DatabaseUnreachable',
        message: `slurmdbd cannot use the database at ${place}: ${words}. Check that it runs and that the address is correct.`,
      };
}
