/** The Token controller: a token in a Secret, renewed before it expires. */
import { conditionType } from '@slurm-operator/api';
import { timestamp } from '@slurm-operator/kube';
import { tokens } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Outcome,
  type Reconcile,
  type ReconcilerManager,
  type StatusReport,
} from '../../framework/define-reconciler.ts';
import { type Condition, summaryConditions } from '../../framework/status/conditions.ts';
import { type ObservedToken, observeToken } from './observe.ts';
import { planToken, type TokenPlan } from './plan.ts';
import { secretOf } from './renewal.ts';

export const tokenReconciler = (manager: ReconcilerManager): Reconcile =>
  defineReconciler(manager, {
    resource: tokens,
    observe: (token, { signal }) => observeToken(manager, token, signal),
    plan: planToken,
    status: tokenStatus,
    report: ({ observed, plan: { renewal }, succeeded }, log) => {
      if (renewal !== undefined && succeeded(renewal.write))
        log.info({ why: renewal.why, secret: secretOf(observed.token).name }, 'signed a token');
    },
  });

export function tokenStatus(outcome: Outcome<ObservedToken, TokenPlan>): StatusReport {
  const { token } = outcome.observed;
  const facts = currentFacts(outcome);
  const times =
    facts === undefined ? {} : { issuedAt: timestamp(facts.issuedAt), expiresAt: timestamp(facts.expiresAt) };
  return {
    fields: { secretName: secretOf(token).name, ...times },
    conditions: tokenConditions(outcome, facts !== undefined),
  };
}

function currentFacts({ observed, plan, succeeded }: Outcome<ObservedToken, TokenPlan>) {
  const { renewal } = plan;
  return renewal !== undefined && succeeded(renewal.write) ? renewal.facts : observed.facts;
}

/** With a key of no Controller the token may still be valid for a Slurm elsewhere: the Token stays Ready. */
function tokenConditions(
  { observed: { token }, problems }: Outcome<ObservedToken, TokenPlan>,
  isStored: boolean,
): Condition[] {
  const ready = `Secret ${secretOf(token).name} contains a token for ${token.spec.username}.`;
  const isUsable = isStored && problems.every(({ reason }) => reason === 'InvalidKey');
  return summaryConditions(problems, ready).map((condition) =>
    condition.type === conditionType.ready && isUsable
      ? { ...condition, status: 'True', reason: 'Ready', message: ready }
      : condition,
  );
}
