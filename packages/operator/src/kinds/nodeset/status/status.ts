/** The conditions of a NodeSet, each with what to do. Pure. */
import { conditionType } from '@slurm-operator/api';
import type { Condition, Problem } from '../../../framework/status/conditions.ts';
import { hasOldKeys } from '../model/availability.ts';
import type { Observed } from '../model/observed.ts';
import type { WorkerPlan } from '../plan/plan-workers.ts';
import { type Counts, countsOf } from './counts.ts';
import { degraded } from './degraded.ts';
import { progressing } from './progressing.ts';
import { ready } from './ready.ts';
import { refusalOf, refusedLines } from './refused-lines.ts';
import { names } from './words.ts';

export interface StatusDraft {
  readonly counts: Counts;
  readonly conditions: readonly Condition[];
}

/** `problem`: what went wrong in this reconcile, if anything did. */
export function nodeSetStatus(
  observed: Observed,
  plan: WorkerPlan,
  problem: Problem | undefined,
  now: number,
): StatusDraft {
  const counts = countsOf(observed, plan.desired, now);
  return {
    counts,
    conditions: [
      ready(observed, plan, counts, problem, now),
      progressing(observed, plan, counts),
      degraded(observed, plan, problem),
      keysCurrent(observed),
      configApplied(observed),
    ],
  };
}

function configApplied(observed: Observed): Condition {
  const { configLines, deleting, controllerExists } = observed;
  const { state, held, refused } = configLines;
  const type = conditionType.configApplied;
  const refusal = refusedLines(observed);
  if (refusal !== undefined) return { type, status: 'False', ...refusal };
  if (held.length > 0) return { type, status: 'False', reason: 'ConfigHeld', message: held.join(' ') };
  if (!controllerExists)
    return {
      type,
      status: 'Unknown',
      reason: 'ControllerNotFound',
      message: 'The Controller does not exist.',
    };
  if (state === 'external')
    return { type, status: 'True', reason: 'External', message: 'slurm.conf is written elsewhere.' };
  if (refused !== undefined && !deleting)
    return {
      type,
      status: 'Unknown',
      reason: refused,
      message: `slurm.conf contains lines of this NodeSet; whether they are the newest is unknown, because ${refusalOf(observed)}.`,
    };
  const applied = deleting ? state === 'absent' : state !== 'absent';
  return applied
    ? {
        type,
        status: 'True',
        reason: 'Applied',
        message: 'slurm.conf contains the desired lines of this NodeSet.',
      }
    : {
        type,
        status: 'False',
        reason: 'Reconfiguring',
        message: `slurm.conf ${deleting ? 'still contains' : 'does not contain'} this NodeSet${deleting ? '' : ' yet'}; see the Controller.`,
      };
}

function keysCurrent(observed: Observed): Condition {
  const type = conditionType.keysCurrent;
  const old = observed.workers.filter((worker) => hasOldKeys(worker, observed));
  if (old.length === 0)
    return {
      type,
      status: 'True',
      reason: 'AsExpected',
      message: 'Every worker uses the newest keys.',
    };
  return {
    type,
    status: 'False',
    reason: 'KeyRotation',
    message: `${old.length} of ${observed.workers.length} workers still use an old key: ${names(old)}. They reload a new slurm.key in place; for a new sssd.conf they are replaced as the update strategy allows.`,
  };
}
