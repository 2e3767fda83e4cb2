/** Why an Account is not in Slurm as its specification says, in sentences. Pure. */
import { type AssociationRow, associationName } from '@slurm-operator/slurm';
import type { Decision } from '../../declared/decide.ts';
import type { FieldChange } from '../../declared/fields.ts';
import { changeLines } from '../../declared/stored.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { unreachableDatabase, unreadDatabase } from '../../slurm-connection/row-problems.ts';
import { accountName, placeOf, type RowId } from './fields.ts';
import type { ObservedAccount } from './observe.ts';

const most = 5;

/** Why nothing can be decided. */
export function blockOf(observed: ObservedAccount): Problem | undefined {
  const { account, rows, qos, conflict } = observed;
  const { namespace } = account.metadata;
  const block = unreachableDatabase(
    { ...observed, namespace, accounting: account.spec.accountingRef.name },
    conflict &&
      `Account ${conflict} is older and declares account ${accountName(account)} of the same Accounting: delete one of the two.`,
  );
  if (block !== undefined) return block;
  return rows.kind === 'unknown' || qos.kind === 'unknown' ? databaseUnknown(observed) : undefined;
}

export function databaseUnknown({ account, rows, qos }: ObservedAccount): Problem {
  const [why] = [rows, qos].flatMap((list) => (list.kind === 'unknown' ? [list.why] : []));
  return unreadDatabase(account.spec.accountingRef.name, why);
}

export const missingCluster = ({ account }: ObservedAccount, cluster: string): Problem => ({
  reason: 'ClusterNotFound',
  message: `the accounting database has no cluster ${cluster}, so account ${accountName(account)} is not created there: ${
    account.spec.clusters === undefined
      ? 'its slurmctld registers it when it starts'
      : 'correct spec.clusters, or start its slurmctld, which registers it'
  }.`,
});

export const missingParent = (name: string, parent: string, cluster: string): Problem => ({
  reason: 'ParentNotFound',
  message: `account ${parent}, the parent of ${name}, does not exist on cluster ${cluster}: create it, or correct spec.parent.`,
});

export const parentCycle = (name: string, parent: string): Problem => ({
  reason: 'ParentCycle',
  message: `account ${parent} cannot be the parent of ${name}, because it is below it: correct spec.parent of one of them.`,
});

export const missingQos = (names: readonly string[]): Problem => ({
  reason: 'QosNotFound',
  message: `the specification names QOS ${few(names)}, which the accounting database does not have: create it, or correct the name.`,
});

export const unknownCoordinators = (users: readonly string[]): Problem => ({
  reason: 'UserNotFound',
  message: `spec.coordinators names ${few(users)}, which Slurm does not know: make them members of an account first.`,
  stillReady: true,
});

export const notAdopted = (name: string, changes: readonly FieldChange[]): Problem => ({
  reason: 'NotAdopted',
  message: `account ${name} existed in Slurm before this object, so nothing is written (${summary(changes)}). Set spec.adopt to true to take it over; status.plan lists what would change.`,
});

export const membersNotAdopted = (name: string, ids: readonly RowId[]): Problem => ({
  reason: 'NotAdopted',
  message: `${few(ids.map((id) => placeOf(id)?.user ?? id))} were members of account ${name} before this object named them, so nothing is written for them. Set spec.adopt to true to take them over; status.plan lists what would change.`,
});

export const missing = (name: string): Problem => ({
  reason: 'Drifted',
  message: `account ${name} was deleted in Slurm by someone else, and spec.drift is Report: set it to Correct to have it created again.`,
});

export function defaultsElsewhere({ defaultsElsewhere: elsewhere, account }: ObservedAccount): Problem[] {
  const [first] = elsewhere;
  if (first === undefined) return [];
  const [user, object] = first;
  const more = elsewhere.size > 1 ? ` (and ${elsewhere.size - 1} more members)` : '';
  return [
    {
      reason: 'NameConflict',
      message: `Account ${object} is older and has account ${accountName(account)}'s member ${user} with default: true as well${more}: remove it in one of the two.`,
      stillReady: true,
    },
  ];
}

export function driftOf({ account }: ObservedAccount, decisions: ReadonlyMap<RowId, Decision>): Problem[] {
  const name = accountName(account);
  const gone = [...decisions].filter(([id, { kind }]) => kind === 'Missing' && placeOf(id)?.user);
  const changed = [...decisions].filter(([, { drift }]) => drift.length > 0);
  const removed: Problem[] =
    gone.length === 0
      ? []
      : [
          {
            reason: 'Drifted',
            message: `${few(gone.map(([id]) => placeOf(id)?.user ?? id))} left account ${name} in Slurm, and spec.drift is Report: set it to Correct to have them added again.`,
          },
        ];
  if (changed.length === 0) return removed;
  const lines = summary(changed.flatMap(([, { drift }]) => drift));
  return [
    ...removed,
    {
      reason: 'Drifted',
      message: `someone changed account ${name} or its members in Slurm, and spec.drift is Report (${lines}). Change the specification, or set spec.drift to Correct.`,
    },
  ];
}

export const notEmpty = (name: string, rows: readonly AssociationRow[]): Problem => ({
  reason: 'NotEmpty',
  message: `account ${name} is not deleted while it has rows that this object never wrote (${few(rows.map(associationName))}): remove them, or set spec.deletionPolicy to Orphan.`,
  passing: true,
});

export const inUse = (what: string, jobs: readonly string[]): Problem => ({
  reason: 'InUse',
  message: `${what} is not removed from Slurm while jobs use it${jobs.length === 0 ? '' : ` (${few(jobs)})`}: wait for them or cancel them.`,
  passing: true,
});

export const jobsUnknown = (what: string, controller: string): Problem => ({
  reason: 'InUse',
  message: `${what} is not removed from Slurm while the jobs of Controller ${controller} cannot be listed: they may use it. Check its Cluster.`,
  passing: true,
});

export const isDefault = (user: string, name: string): Problem => ({
  reason: 'DefaultAccount',
  message: `${user} stays a member of account ${name} while it is the default account and the user has others: set default: true for the user in another Account, or run sacctmgr -i modify user ${user} set defaultaccount=<other>.`,
});

function few(names: readonly string[]): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}

function summary(changes: readonly FieldChange[]): string {
  const lines = changeLines(changes);
  if (lines.length === 0) return 'it matches the specification';
  return lines.length <= 3 ? lines.join('; ') : `${lines.slice(0, 3).join('; ')}; ${lines.length - 3} more`;
}
