/** What a Cluster says: whether Slurm answers, what it holds, and how everything that belongs to it is. Pure. */
import { type Cluster, conditionType } from '@slurm-operator/api';
import { isBusy, isDown, isDrain, isIdle } from '@slurm-operator/slurm';
import { type Condition, type Problem, summaryConditions } from '../../framework/status/conditions.ts';
import type { AccountingAnswer } from '../../slurm-connection/ask-accounting.ts';
import type { Failure } from '../../slurm-connection/failure.ts';
import type { NodesView } from '../../slurm-connection/slurm-gateway.ts';
import type { ObservedCluster } from './observe.ts';

type Status = NonNullable<Cluster['status']>;

export interface Connected {
  readonly server: string;
  readonly slurmVersion: string | undefined;
  readonly apiVersion: string | undefined;
  readonly view: NodesView;
  readonly jobs: { readonly running: number; readonly pending: number } | undefined;
  /** Whether slurmdbd answers and has its database; undefined where there is no accounting. */
  readonly accounting: AccountingAnswer | undefined;
}

export function clusterStatus(
  outcome: Connected | Failure,
  observed: Pick<ObservedCluster, 'unready' | 'hasAccounting' | 'lastVersion' | 'memory'>,
): { readonly fields: Partial<Status>; readonly conditions: readonly Condition[] } {
  const { unready, lastVersion } = observed;
  const failed = 'class' in outcome;
  const connected: Condition = failed
    ? {
        type: conditionType.slurmConnected,
        status: 'False',
        reason: outcome.reason,
        message: outcome.message,
      }
    : {
        type: conditionType.slurmConnected,
        status: 'True',
        reason: 'Connected',
        message: `Slurm at ${outcome.server} responds and accepts the token of the operator.`,
      };
  const problems: Problem[] = failed ? [{ reason: outcome.reason, message: outcome.message }] : [];
  const [ready, progressing, degraded] = summaryConditions(problems, connected.message);
  const [first] = unready;
  return {
    fields: {
      isReady: !failed,
      // While Slurm does not answer, the guard of the Controller tells by it whether there may be jobs.
      ...(lastVersion === undefined ? {} : { slurmVersion: lastVersion }),
      ...(failed ? {} : contents(outcome)),
    },
    conditions: [
      ...(ready === undefined ? [] : [ready]),
      ...(progressing === undefined ? [] : [progressing]),
      // Slurm may answer while a component of the cluster fails: that is Degraded, not down.
      ...(degraded === undefined
        ? []
        : [
            !failed && first !== undefined
              ? {
                  ...degraded,
                  status: 'True' as const,
                  reason: 'PodsNotReady' as const,
                  message: `${first.kind} ${first.name} is not ready: ${first.message}${unready.length > 1 ? ` (and ${unready.length - 1} more)` : ''}`,
                }
              : degraded,
          ]),
      connected,
      ...databaseCondition(outcome, observed),
    ],
  };
}

/** What the Accounting cannot know of itself: a slurmdbd that has lost its database goes on listening. */
function databaseCondition(
  outcome: Connected | Failure,
  { hasAccounting, memory }: Pick<ObservedCluster, 'hasAccounting' | 'memory'>,
): Condition[] {
  const type = conditionType.databaseReachable;
  if (!hasAccounting) return [];
  const isFirstSilence =
    !('class' in outcome) && outcome.accounting?.kind === 'silent' && !memory.accountingWasSilent;
  if ('class' in outcome || outcome.accounting === undefined || isFirstSilence)
    return [
      {
        type,
        status: 'Unknown',
        reason: 'SlurmUnknown',
        message:
          'class' in outcome
            ? 'Slurm does not respond, so the state of its accounting is unknown.'
            : 'slurmdbd has not responded yet.',
      },
    ];
  return [
    outcome.accounting.kind === 'answers'
      ? { type, status: 'True', reason: 'Connected', message: 'slurmdbd and its database respond.' }
      : { type, status: 'False', reason: 'DatabaseUnreachable', message: outcome.accounting.words },
  ];
}

function contents({ server, slurmVersion, apiVersion, view, jobs }: Connected): Partial<Status> {
  return {
    server,
    ...(slurmVersion === undefined ? {} : { slurmVersion }),
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(view.kind === 'unknown'
      ? {}
      : {
          nodes: {
            total: view.nodes.length,
            idle: view.nodes.filter(({ state }) => isIdle(state) && !isDrain(state)).length,
            allocated: view.nodes.filter(({ state }) => isBusy(state) && !isDown(state)).length,
            down: view.nodes.filter(({ state }) => isDown(state)).length,
            drained: view.nodes.filter(({ state }) => isDrain(state)).length,
          },
        }),
    ...(jobs === undefined ? {} : { jobs }),
  };
}
