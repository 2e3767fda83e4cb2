/** What an Account says about its rows. Pure. */
import { conditionType } from '@slurm-operator/api';
import { changeLines } from '../../declared/stored.ts';
import type { EventNote, Outcome, StatusReport } from '../../framework/define-reconciler.ts';
import { type Condition, type Problem, summaryConditions } from '../../framework/status/conditions.ts';
import { rowKey } from '../../slurm-connection/accounting-rows.ts';
import type { AccountNote } from './act.ts';
import { type AppliedRows, writeRows } from './applied.ts';
import { appliedAfterWrite } from './applied-rows.ts';
import { accountName, placeOf, type RowId, recordId } from './fields.ts';
import type { ObservedAccount } from './observe.ts';
import { type AccountPlan, linesOf, planned } from './plan.ts';

export type AccountOutcome = Outcome<ObservedAccount, AccountPlan, AccountNote>;

export function accountStatus(outcome: AccountOutcome): StatusReport {
  const { observed, plan } = outcome;
  const applied = appliedOf(outcome);
  const members = plan.members ?? observed.account.status?.members;
  const notAdopted = [...plan.decisions].some(([, { kind }]) => kind === 'NotAdopted');
  const shown = notAdopted ? linesOf(plan.decisions, 'changes') : [];
  const drift = linesOf(plan.decisions, 'drift');
  return {
    fields: {
      ...(members === undefined ? {} : { members }),
      ...(applied === undefined ? {} : { applied: writeRows(applied) }),
      ...(shown.length === 0 ? {} : { plan: shown }),
      ...(drift.length === 0 ? {} : { drift }),
    },
    conditions: conditionsOf(outcome),
  };
}

function appliedOf({ observed, plan, notes, succeeded }: AccountOutcome): AppliedRows | undefined {
  if (plan.desired.size === 0) return plan.applied;
  const ofWrite = notes.filter(({ about }) => about === 'write');
  const isUntouched = ofWrite.some(({ isRecorded }) => !isRecorded);
  const isDone = plan.write !== undefined && succeeded(plan.write) && ofWrite.length === 0;
  const write = isDone ? 'done' : isUntouched || plan.write === undefined ? 'untouched' : 'failed';
  return appliedAfterWrite(plan, { write, exists: (id) => rowExists(observed, id) });
}

function rowExists({ account, rows }: ObservedAccount, id: RowId): boolean {
  if (rows.kind === 'unknown') return true;
  const name = accountName(account);
  const place = placeOf(id);
  return place === undefined
    ? rows.records.has(name)
    : rows.byKey.has(rowKey(place.cluster, name, place.user));
}

function conditionsOf({ observed, problems, notes }: AccountOutcome): Condition[] {
  const { account, isDeleted } = observed;
  const name = accountName(account);
  const deleting: Problem[] = isDeleted
    ? [{ reason: 'Deleting', message: `account ${name} is being removed from Slurm.`, passing: true }]
    : [];
  const refused = notes.flatMap(({ problem }) => problem ?? []);
  const all = [...refused, ...problems, ...deleting];
  const isUnknown = all.some(({ reason }) => reason === 'DatabaseUnknown');
  return summaryConditions(
    all,
    `account ${name} and its members in Slurm have every field that the specification names.`,
  ).map((condition) =>
    condition.type === conditionType.ready && isUnknown && condition.status === 'False'
      ? { ...condition, status: 'Unknown' }
      : condition,
  );
}

export function accountEvents({ observed, plan, notes, succeeded }: AccountOutcome): EventNote[] {
  const failed = notes.flatMap(({ problem }): EventNote[] =>
    problem === undefined ? [] : [{ type: 'Warning', reason: problem.reason, note: problem.message }],
  );
  const { write, removal, decisions } = plan;
  const name = accountName(observed.account);
  const isDone = (about: AccountNote['about']) => notes.every((note) => note.about !== about);
  const events: EventNote[] = [...failed];
  if (write !== undefined && succeeded(write) && isDone('write')) {
    const isCreated = write.rows.some(({ id, creates }) => id === recordId && creates);
    const lines = write.rows.flatMap(({ id }) => {
      const decision = decisions.get(id);
      return decision === undefined ? [] : planned(id, decision);
    });
    events.push(
      isCreated
        ? { type: 'Normal', reason: 'Created', note: `Created account ${name} in Slurm.` }
        : { type: 'Normal', reason: 'Changed', note: `Changed account ${name} in Slurm: ${words(lines)}.` },
    );
  }
  if (removal !== undefined && succeeded(removal) && isDone('removal')) {
    const users = [...new Set(removal.members.map(({ user }) => user))].slice(0, 10).join(', ');
    events.push({
      type: 'Normal',
      reason: 'Changed',
      note: `Removed ${users} from account ${name} in Slurm.`,
    });
  }
  return events;
}

function words(changes: Parameters<typeof changeLines>[0]): string {
  const lines = changeLines(changes);
  return lines.length <= 5 ? lines.join('; ') : `${lines.slice(0, 5).join('; ')}; ${lines.length - 5} more`;
}
