/** What a QualityOfService says about its row. Pure. */
import { conditionType } from '@slurm-operator/api';
import { type Applied, appliedAfter, appliedBefore } from '../../declared/decide.ts';
import { changeLines, readApplied, writeApplied } from '../../declared/stored.ts';
import type { EventNote, Outcome, StatusReport } from '../../framework/define-reconciler.ts';
import { type Condition, type Problem, summaryConditions } from '../../framework/status/conditions.ts';
import type { QosNote } from './act.ts';
import { rowName } from './fields.ts';
import type { ObservedQos } from './observe.ts';
import type { QosPlan } from './plan.ts';

export type QosOutcome = Outcome<ObservedQos, QosPlan, QosNote>;

export function qosStatus(outcome: QosOutcome): StatusReport {
  const { observed, plan } = outcome;
  const { qos, rows } = observed;
  const { decision } = plan;
  const applied = appliedOf(outcome);
  const row = rows.kind === 'known' ? rows.byName.get(rowName(qos)) : undefined;
  const slurmId = rows.kind === 'known' ? row?.id : qos.status?.slurmId;
  const shown = decision?.kind === 'NotAdopted' ? changeLines(decision.changes) : [];
  const drift = changeLines(decision?.drift ?? []);
  return {
    fields: {
      ...(slurmId === undefined ? {} : { slurmId }),
      ...(applied === undefined ? {} : { applied: writeApplied(applied) }),
      ...(shown.length === 0 ? {} : { plan: shown }),
      ...(drift.length === 0 ? {} : { drift }),
    },
    conditions: conditionsOf(outcome),
  };
}

/** Only what was really written is remembered as such. */
function appliedOf({ observed, plan, notes, succeeded }: QosOutcome): Applied | undefined {
  const { desired, decision, write } = plan;
  const applied = readApplied(observed.qos.status?.applied);
  if (write !== undefined) {
    const isWritten = succeeded(write) && notes.length === 0;
    if (isWritten) return appliedAfter({ desired });
    const isUntouched = notes.some(({ isRecorded }) => !isRecorded);
    return isUntouched ? applied : appliedBefore({ desired, applied }, decision?.changes ?? []);
  }
  const isAsDeclared = decision?.kind === 'Change' && decision.changes.length === 0;
  return isAsDeclared ? appliedAfter({ desired }) : applied;
}

function conditionsOf({ observed, problems, notes }: QosOutcome): Condition[] {
  const { qos, isDeleted } = observed;
  const name = rowName(qos);
  const deleting: Problem[] = isDeleted
    ? [{ reason: 'Deleting', message: `QOS ${name} is being removed from Slurm.`, passing: true }]
    : [];
  const refused = notes.flatMap(({ problem }) => problem ?? []);
  const all = [...refused, ...problems, ...deleting];
  const isUnknown = all.some(({ reason }) => reason === 'DatabaseUnknown');
  return summaryConditions(all, `QOS ${name} in Slurm has every field that the specification names.`).map(
    (condition) =>
      condition.type === conditionType.ready && isUnknown && condition.status === 'False'
        ? { ...condition, status: 'Unknown' }
        : condition,
  );
}

export function qosEvents({ observed, plan, notes, succeeded }: QosOutcome): EventNote[] {
  const { write, decision } = plan;
  const failed = notes.flatMap(({ problem }): EventNote[] =>
    problem === undefined ? [] : [{ type: 'Warning', reason: problem.reason, note: problem.message }],
  );
  if (write?.type !== 'WriteRow' || !succeeded(write) || notes.length > 0) return failed;
  const lines = changeLines(decision?.changes ?? []).join('; ');
  const name = rowName(observed.qos);
  return [
    write.creates
      ? { type: 'Normal', reason: 'Created', note: `Created QOS ${name} in Slurm.` }
      : { type: 'Normal', reason: 'Changed', note: `Changed QOS ${name} in Slurm: ${lines}.` },
  ];
}
