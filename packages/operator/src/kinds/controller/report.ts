/** The status and the events of a Controller, from a plan and what became of it. Pure. */
import type { EventNote, Outcome, StatusReport } from '../../framework/define-reconciler.ts';
import type { TrialDecision } from '../../slurm-config/trial/trial.ts';
import { holdEvents } from './plan/config-hold.ts';
import { type ControllerNote, resizeAgainAfter } from './plan/memory.ts';
import { type ControllerInput, type ControllerPlan, earliest, trialTimes } from './plan/plan.ts';
import { resizeRefused } from './plan/state-volume.ts';
import { controllerStatus } from './status.ts';

type ControllerOutcome = Outcome<ControllerInput, ControllerPlan, ControllerNote>;

/** The kind ServiceMonitor may be installed at any time, and nothing reports that. */
const lookForPrometheus = 60_000;

export function controllerReport(outcome: ControllerOutcome): StatusReport {
  const { after, plan, problems, notes, succeeded } = outcome;
  const { decision, enforce } = plan;
  const isEnforced = enforce !== undefined && succeeded(enforce);
  const desired = decision.desiredTrial;
  return controllerStatus(
    after,
    {
      ...decision,
      problems,
      decision: triedDecision(decision.configHash, decision.decision, notes),
      desiredTrial: desired && {
        ...desired,
        decision: triedDecision(desired.digest, desired.decision, notes),
      },
      ...(isEnforced ? { enforced: decision.configHash } : {}),
    },
    notes.flatMap((note) => (note.type === 'resize-refused' ? resizeRefused(note.claim, note.why) : [])),
  );
}

/** With the reason where Kubernetes refused a pod of the trial. */
function triedDecision(
  digest: string,
  planned: TrialDecision,
  notes: readonly ControllerNote[],
): TrialDecision {
  const tried = notes.find((note) => note.type === 'tried' && note.digest === digest);
  return tried?.type === 'tried' ? tried.decision : planned;
}

/** A trial or a resize that Kubernetes refused is retried later than planned; a ServiceMonitor when its kind may exist. */
export function lookAgainAt({ plan, notes, now }: ControllerOutcome): number | undefined {
  return earliest([
    ...(plan.lookAgainAt === undefined ? [] : [plan.lookAgainAt]),
    ...notes.flatMap((note) => {
      if (note.type === 'tried') return trialTimes([note.decision], now);
      if (note.type === 'resize-refused') return [note.at + resizeAgainAfter];
      return note.type === 'monitor' && note.isKindAbsent ? [now + lookForPrometheus] : [];
    }),
  ]);
}

export function controllerEvents({ after, plan, notes }: ControllerOutcome): EventNote[] {
  const hints = plan.hints.join('\n') === plan.memory.hints ? [] : plan.hints;
  return [
    ...hints.map((note): EventNote => ({ type: 'Warning', reason: 'CheckSpec', note })),
    ...notes.flatMap((note): EventNote[] =>
      note.type === 'key-created'
        ? [{ type: 'Normal', reason: 'KeyCreated', note: `Created the key in Secret ${note.name}` }]
        : [],
    ),
    ...holdEvents(after.controller, plan.decision.configHold),
  ];
}
