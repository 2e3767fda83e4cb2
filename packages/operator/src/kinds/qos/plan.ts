/** What to do for a QualityOfService. Pure. */
import { type Decision, decide } from '../../declared/decide.ts';
import { decideDeletion } from '../../declared/deletion.ts';
import type { FieldChange, Fields } from '../../declared/fields.ts';
import { changeLines, readApplied } from '../../declared/stored.ts';
import type { CustomAction } from '../../framework/actions.ts';
import type { Plan } from '../../framework/define-reconciler.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { rowsPeriod } from '../../slurm-connection/accounting-rows.ts';
import { unreachableDatabase, unreadDatabase } from '../../slurm-connection/row-problems.ts';
import { desiredFields, rowFields, rowName, unsetFields } from './fields.ts';
import type { ObservedQos } from './observe.ts';

export type QosAction =
  | (CustomAction & { readonly type: 'AddFinalizer' | 'RemoveFinalizer' })
  | (CustomAction & {
      readonly type: 'WriteRow';
      readonly name: string;
      readonly desired: Fields;
      readonly changes: readonly FieldChange[];
      /** Of a row that does not exist yet. */
      readonly creates: boolean;
    })
  /** And then the finalizer. */
  | (CustomAction & { readonly type: 'DeleteRow'; readonly name: string });

export interface QosPlan extends Plan<QosAction> {
  /** Undefined: nothing could be decided. */
  readonly decision?: Decision | undefined;
  /** What the specification names. */
  readonly desired: Fields;
  readonly write?: QosAction;
}

export function planQos(observed: ObservedQos, now: number): QosPlan {
  return observed.isDeleted ? planDeletion(observed, now) : planRow(observed, now);
}

function planRow(observed: ObservedQos, now: number): QosPlan {
  const { qos, rows, hasFinalizer } = observed;
  const { spec, status } = qos;
  const desired = desiredFields(qos);
  const name = rowName(qos);
  const needsFinalizer = spec.deletionPolicy === 'Delete' && observed.conflict === undefined;
  const hold: QosAction[] =
    needsFinalizer === hasFinalizer
      ? []
      : [{ type: needsFinalizer ? 'AddFinalizer' : 'RemoveFinalizer', title: 'finalizer' }];
  const lookAgainAt = now + rowsPeriod;
  const blocked = blockOf(observed);
  if (blocked !== undefined || rows.kind === 'unknown')
    return { actions: hold, problems: blocked === undefined ? [] : [blocked], desired, lookAgainAt };
  const row = rows.byName.get(name);
  const decision = decide({
    desired,
    applied: readApplied(status?.applied),
    current: row && rowFields(row),
    defaults: unsetFields,
    drift: spec.drift,
    adopt: spec.adopt,
  });
  const problems = problemsOf(decision, observed);
  const common = { decision, desired, lookAgainAt };
  if (decision.kind === 'NotAdopted' || decision.kind === 'Missing')
    return { ...common, actions: hold, problems };
  const unknown = (spec.preempts ?? []).filter((other) => other !== name && !rows.byName.has(other));
  if (unknown.length > 0)
    return { ...common, actions: hold, problems: [...problems, missingPreempted(unknown)] };
  if (decision.kind === 'Change' && decision.changes.length === 0)
    return { ...common, actions: hold, problems };
  const write: QosAction = {
    type: 'WriteRow',
    title: `QOS ${name}`,
    name,
    desired,
    changes: decision.changes,
    creates: decision.kind === 'Create',
    needs: hold.map(({ title }) => title),
  };
  return { ...common, actions: [...hold, write], problems, write };
}

function planDeletion(observed: ObservedQos, now: number): QosPlan {
  const { qos, rows, hasFinalizer, accountingExists, controllers } = observed;
  const desired = desiredFields(qos);
  if (!hasFinalizer) return { actions: [], problems: [], desired };
  const name = rowName(qos);
  const isGone = !accountingExists || controllers.length === 0;
  const decided = decideDeletion({
    deletionPolicy: qos.spec.deletionPolicy,
    applied: readApplied(qos.status?.applied),
    slurm: isGone ? 'gone' : rows.kind,
    rowExists: rows.kind === 'known' && rows.byName.has(name),
  });
  const release: QosAction = { type: 'RemoveFinalizer', title: 'finalizer' };
  switch (decided) {
    case 'Release':
      return { actions: [release], problems: [], desired };
    case 'Delete': {
      const remove: QosAction = { type: 'DeleteRow', title: `QOS ${name}`, name };
      return {
        actions: [remove],
        problems: [],
        desired,
        lookAgainAt: now + rowsPeriod,
      };
    }
    case 'Wait':
      return { actions: [], problems: [databaseUnknown(observed)], desired, lookAgainAt: now + rowsPeriod };
  }
}

/** Why nothing can be decided. */
function blockOf(observed: ObservedQos): Problem | undefined {
  const { qos, rows, conflict } = observed;
  const { namespace } = qos.metadata;
  const block = unreachableDatabase(
    { ...observed, namespace, accounting: qos.spec.accountingRef.name },
    conflict &&
      `QualityOfService ${conflict} is older and declares QOS ${rowName(qos)} of the same Accounting: delete one of the two.`,
  );
  if (block !== undefined) return block;
  return rows.kind === 'unknown' ? databaseUnknown(observed) : undefined;
}

const databaseUnknown = ({ qos, rows }: ObservedQos): Problem =>
  unreadDatabase(qos.spec.accountingRef.name, rows.kind === 'unknown' ? rows.why : undefined);

const missingPreempted = (names: readonly string[]): Problem => ({
  reason: 'QosNotFound',
  message: `spec.preempts names QOS ${names.join(', ')}, which the accounting database does not have: create it, or correct the name.`,
});

function problemsOf({ kind, changes, drift }: Decision, { qos }: ObservedQos): Problem[] {
  const name = rowName(qos);
  if (kind === 'NotAdopted')
    return [
      {
        reason: 'NotAdopted',
        message: `QOS ${name} existed in Slurm before this object, so nothing is written (${summary(changes)}). Set spec.adopt to true to take it over; status.plan lists what would change.`,
      },
    ];
  if (kind === 'Missing')
    return [
      {
        reason: 'Drifted',
        message: `QOS ${name} was deleted in Slurm by someone else, and spec.drift is Report: set it to Correct to have it created again.`,
      },
    ];
  if (drift.length === 0) return [];
  return [
    {
      reason: 'Drifted',
      message: `someone changed QOS ${name} in Slurm, and spec.drift is Report (${summary(drift)}). Change the specification, or set spec.drift to Correct.`,
    },
  ];
}

function summary(changes: readonly FieldChange[]): string {
  const lines = changeLines(changes);
  if (lines.length === 0) return 'it matches the specification';
  return lines.length <= 3 ? lines.join('; ') : `${lines.slice(0, 3).join('; ')}; ${lines.length - 3} more`;
}
