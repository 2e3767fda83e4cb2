/** The status of a NodeSet from an observation, the plan and what became of it. Pure. */
import { app, conditionType, label } from '@slurm-operator/api';
import type { Outcome, StatusReport } from '../../../framework/define-reconciler.ts';
import type { Condition } from '../../../framework/status/conditions.ts';
import { autoscaleStatus } from '../autoscale/autoscale-status.ts';
import { madeWindow, wantedWindow } from '../plan/maintenance-window.ts';
import { type Note, requeueableJobs } from '../plan/memory.ts';
import { pinsForStatus, rememberedPins } from '../plan/pins.ts';
import type { NodeSetPlan, ObservedNodeSet } from '../plan/plan.ts';
import { keptRevision } from '../plan/revisions.ts';
import { nodeSetStatus } from './status.ts';

export type NodeSetOutcome = Outcome<ObservedNodeSet, NodeSetPlan, Note>;

/** The counts are those after acting: caches show the operator's own writes already. */
export function nodeSetReport(outcome: NodeSetOutcome): StatusReport {
  const { after, plan, problems, now } = outcome;
  const { nodeSet, facts } = after;
  const { counts, conditions } = nodeSetStatus(facts, plan.workers, problems[0], now);
  const window = windowReport(outcome);
  const { collisionCount } = nodeSet.status ?? {};
  return {
    fields: {
      ...counts,
      nodeSetHash: facts.updateRevision,
      currentRevision: keptRevision(facts),
      ordinalToNode: pinsForStatus(rememberedPins(nodeSet, facts)),
      selector: `${label.name}=${app.worker},${label.instance}=${nodeSet.metadata.name}`,
      ...(collisionCount === undefined ? {} : { collisionCount }),
      ...window.fields,
      ...autoscaleFields(outcome),
      ...requeueableJobs(facts.requeueable),
    },
    conditions: [...conditions.map((one) => withWindow(one, outcome)), ...window.conditions],
    withdrawn: window.withdrawn,
  };
}

/** A deletion may wait for nothing but the reservation. */
function withWindow(condition: Condition, { plan: { window } }: NodeSetOutcome): Condition {
  if (condition.reason !== 'Deleting' || !window.keepsFinalizer || window.condition?.status !== 'Unknown')
    return condition;
  return { ...condition, message: `${condition.message} ${window.condition.message}` };
}

function autoscaleFields({ after: { nodeSet, facts }, plan, notes, now }: NodeSetOutcome) {
  const summary = plan.workers.autoscale;
  const before = nodeSet.status?.autoscale;
  if (facts.autoscale === undefined) return {};
  // While Slurm is unknown, what was known stays: failed wake-ups are counted in it.
  if (summary === undefined) return before === undefined ? {} : { autoscale: before };
  const done = notes.flatMap((note) => (note.type === 'done' ? note.action : []));
  return { autoscale: autoscaleStatus({ observed: facts, summary, done, before, now }) };
}

/** Where an action failed, the status stays as it was, and with it what is known of the reservation. */
function windowReport({ after: { nodeSet }, plan: { window }, succeeded }: NodeSetOutcome) {
  const isDone = window.actions.every((action) => succeeded(action));
  const reservation = isDone ? window.record : nodeSet.status?.reservation;
  const plays = wantedWindow(nodeSet) !== undefined || madeWindow(nodeSet) !== undefined;
  return {
    fields: reservation === undefined ? {} : { reservation },
    conditions: isDone && window.condition !== undefined ? [window.condition] : [],
    // A status must not depend on what the NodeSet once asked for.
    withdrawn: window.condition === undefined && !plays ? [conditionType.reservationCreated] : [],
  };
}
