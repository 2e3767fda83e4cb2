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
import { keysVerdict } from '../../keys/keys-verdict.ts';
import type { Surroundings } from '../../objects/surroundings.ts';
import { type ObservedAccounting, observeAccounting } from './observe.ts';
import { desiredKeys, planAccounting } from './plan.ts';
import { externalVerdicts, ownVerdicts } from './status.ts';

export const accountingReconciler = (manager: ReconcilerManager, defaults: Surroundings): Reconcile =>
  defineReconciler(manager, {
    resource: accountings,
    observe: (accounting, signal) => observeAccounting(manager, accounting, signal),
    plan: (observed) => planAccounting(observed, defaults),
    status: accountingStatus,
  });

function accountingStatus({ observed, problems }: Outcome<ObservedAccounting, Plan>): StatusReport {
  const { accounting, pods, answers, specProblems, refusedPod } = observed;
  if (accounting.spec.external) return { conditions: externalVerdicts(accounting, answers) };
  return {
    conditions: [
      ...ownVerdicts(
        accounting,
        [...problems, ...specProblems, ...(refusedPod === undefined ? [] : [refusedPod])],
        pods,
        answers,
      ),
      keysVerdict(pods, desiredKeys(observed)),
    ],
  };
}
