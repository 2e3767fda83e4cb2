/** The Accounting controller: slurmdbd on a database. */

import { accountings } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Outcome,
  type Plan,
  type Reconcile,
  type ReconcilerManager,
  type StatusReport,
} from '../../framework/define-reconciler.ts';
import { keysCondition } from '../../keys/keys-condition.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import { type ObservedAccounting, observeAccounting } from './observe.ts';
import { desiredKeys, planAccounting } from './plan.ts';
import { externalConditions, ownConditions } from './status.ts';

export const accountingReconciler = (manager: ReconcilerManager, defaults: OperatorDefaults): Reconcile =>
  defineReconciler(manager, {
    resource: accountings,
    observe: (accounting, { signal }) => observeAccounting(manager, accounting, signal),
    plan: (observed) => planAccounting(observed, defaults),
    status: accountingStatus,
  });

function accountingStatus({ observed, problems }: Outcome<ObservedAccounting, Plan>): StatusReport {
  const { accounting, pods, answers, specProblems, refusedPod } = observed;
  if (accounting.spec.external) return { conditions: externalConditions(accounting, answers) };
  return {
    conditions: [
      ...ownConditions(
        accounting,
        [...problems, ...specProblems, ...(refusedPod === undefined ? [] : [refusedPod])],
        pods,
        answers,
      ),
      keysCondition(pods, desiredKeys(observed)),
    ],
  };
}
