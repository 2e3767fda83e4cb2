/** What to do for an Account. Pure. */
import { type Decision, decide } from '../../declared/decide.ts';
import { decideDeletion } from '../../declared/deletion.ts';
import type { FieldChange, Fields } from '../../declared/fields.ts';
import { changeLines } from '../../declared/stored.ts';
import type { CustomAction } from '../../framework/actions.ts';
import type { Plan } from '../../framework/define-reconciler.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { type KnownAccounts, rowKey, rowsPeriod } from '../../slurm-connection/accounting-rows.ts';
import { type AppliedRows, ownedOf, readRows } from './applied.ts';
import {
  accountName,
  associationFields,
  desiredRows,
  placeOf,
  type RowId,
  type RowPlace,
  recordFields,
  recordId,
  rowIdOf,
  unsetFields,
} from './fields.ts';
import type { ObservedAccount } from './observe.ts';
import * as problem from './problems.ts';

export interface RowWrite {
  readonly id: RowId;
  readonly changes: readonly FieldChange[];
  /** There is no such row yet. */
  readonly creates: boolean;
}

export type AccountAction =
  | (CustomAction & { readonly type: 'AddFinalizer' | 'RemoveFinalizer' })
  | (CustomAction & { readonly type: 'WriteRows'; readonly rows: readonly RowWrite[] })
  /** Members that left the specification. */
  | (CustomAction & { readonly type: 'RemoveMembers'; readonly members: readonly RowPlace[] })
  /** Members, then the account, then the finalizer. */
  | (CustomAction & { readonly type: 'DeleteAccount'; readonly members: readonly RowPlace[] });

export type Write = AccountAction & { readonly type: 'WriteRows' };
export type Removal = AccountAction & { readonly type: 'RemoveMembers' };

export interface AccountPlan extends Plan<AccountAction> {
  /** What the specification names; empty: nothing could be decided. */
  readonly desired: ReadonlyMap<RowId, Fields>;
  /** About each of these rows. */
  readonly decisions: ReadonlyMap<RowId, Decision>;
  readonly applied: AppliedRows | undefined;
  /** Members in Slurm that the specification names. */
  readonly members?: number;
  readonly write?: Write;
  readonly removal?: Removal;
}

/** So many members are removed by one reconcile: each is a request. */
const mostRemovals = 50;

export function planAccount(observed: ObservedAccount, now: number): AccountPlan {
  return observed.isDeleted ? planDeletion(observed, now) : planRows(observed, now);
}

function planRows(observed: ObservedAccount, now: number): AccountPlan {
  const { account, rows, qos, hasFinalizer, conflict } = observed;
  const applied = readRows(account.status?.applied);
  const needsFinalizer = account.spec.deletionPolicy === 'Delete' && conflict === undefined;
  const hold: AccountAction[] =
    needsFinalizer === hasFinalizer
      ? []
      : [{ type: needsFinalizer ? 'AddFinalizer' : 'RemoveFinalizer', title: 'finalizer' }];
  const common = { applied, lookAgainAt: now + rowsPeriod };
  const blocked = problem.blockOf(observed);
  if (blocked !== undefined || rows.kind === 'unknown' || qos.kind === 'unknown')
    return {
      ...common,
      actions: hold,
      problems: blocked === undefined ? [] : [blocked],
      desired: new Map(),
      decisions: new Map(),
    };
  const { clusters, missing } = clustersOf(observed, rows);
  const wanted = desiredRows(account, { clusters, defaultsElsewhere: observed.defaultsElsewhere });
  const { desired, problems: unknownUsers } = withKnownCoordinators(wanted, rows);
  const decisions = new Map(
    [...desired].map(([id, fields]): [RowId, Decision] => {
      const owned = applied?.get(id);
      return [
        id,
        decide({
          desired: fields,
          applied: owned && ownedOf(owned, fields),
          current: currentOf(accountName(account), id, rows),
          defaults: unsetFields(id),
          drift: account.spec.drift,
          adopt: account.spec.adopt,
        }),
      ];
    }),
  );
  const blockedRows = blockedRowsOf(observed, { desired, decisions, clusters, rows });
  const writes = [...decisions].flatMap(([id, { kind, changes }]): RowWrite[] => {
    const isWritten = (kind === 'Create' || kind === 'Change') && !blockedRows.isBlocked(id);
    return isWritten && changes.length > 0 ? [{ id, changes, creates: kind === 'Create' }] : [];
  });
  const problems = [
    ...missing.map((cluster) => problem.missingCluster(observed, cluster)),
    ...blockedRows.problems,
    ...unknownUsers,
    ...problem.defaultsElsewhere(observed),
    ...problem.driftOf(observed, decisions),
  ];
  const title = `account ${accountName(account)}`;
  const needs = hold.map((action) => action.title);
  const write: Write | undefined =
    writes.length === 0 ? undefined : { type: 'WriteRows', title, rows: writes, needs };
  const members = blockedRows.isBlocked(recordId) ? [] : leavingMembers(observed, desired, clusters, rows);
  const removal: Removal | undefined =
    members.length === 0
      ? undefined
      : { type: 'RemoveMembers', title: `members of ${title}`, members, needs };
  return {
    ...common,
    desired,
    decisions,
    problems,
    members: [...desired.keys()].filter(
      (id) => placeOf(id)?.user && currentOf(accountName(account), id, rows) !== undefined,
    ).length,
    actions: [...hold, ...(write === undefined ? [] : [write]), ...(removal === undefined ? [] : [removal])],
    ...(write && { write }),
    ...(removal && { removal }),
  };
}

/** Those that have rows: a cluster that never started is not in the database. */
function clustersOf({ account, controllers }: ObservedAccount, { byKey }: KnownAccounts) {
  const named = account.spec.clusters ?? controllers.map(({ cluster }) => cluster);
  const all = [...new Set(named)].toSorted();
  const isKnown = (cluster: string) => byKey.has(rowKey(cluster, 'root'));
  return { clusters: all.filter(isKnown), missing: all.filter((cluster) => !isKnown(cluster)) };
}

/** Slurm ignores a coordinator that it does not know, with success. */
function withKnownCoordinators(
  wanted: ReadonlyMap<RowId, Fields>,
  { users }: KnownAccounts,
): { readonly desired: ReadonlyMap<RowId, Fields>; readonly problems: readonly Problem[] } {
  const record = wanted.get(recordId) ?? {};
  const { coordinators } = record;
  if (!Array.isArray(coordinators)) return { desired: wanted, problems: [] };
  const joining = new Set([...wanted.keys()].map((id) => placeOf(id)?.user));
  const unknown = coordinators.filter((user: string) => !users.has(user) && !joining.has(user));
  if (unknown.length === 0) return { desired: wanted, problems: [] };
  const known = coordinators.filter((user: string) => !unknown.includes(user));
  const desired = new Map([...wanted, [recordId, { ...record, coordinators: known }]]);
  return { desired, problems: [problem.unknownCoordinators(unknown)] };
}

function currentOf(account: string, id: RowId, rows: KnownAccounts): Fields | undefined {
  const place = placeOf(id);
  if (place === undefined) {
    const record = rows.records.get(account);
    return record && recordFields(record);
  }
  const row = rows.byKey.get(rowKey(place.cluster, account, place.user));
  return row && associationFields(row);
}

interface Deciding {
  readonly desired: ReadonlyMap<RowId, Fields>;
  readonly decisions: ReadonlyMap<RowId, Decision>;
  readonly clusters: readonly string[];
  readonly rows: KnownAccounts;
}

/** Rows that must not be written yet, and why. */
function blockedRowsOf(
  observed: ObservedAccount,
  { desired, decisions, clusters, rows }: Deciding,
): { readonly isBlocked: (id: RowId) => boolean; readonly problems: readonly Problem[] } {
  const name = accountName(observed.account);
  const ofAccount = [recordId, ...clusters.map((cluster) => rowIdOf(cluster))];
  const notAdopted = ofAccount.some((id) => decisions.get(id)?.kind === 'NotAdopted');
  const changes = [...decisions].flatMap(([id, decision]) => planned(id, decision));
  if (notAdopted) return { isBlocked: () => true, problems: [problem.notAdopted(name, changes)] };
  const isMissing = ofAccount.some((id) => decisions.get(id)?.kind === 'Missing');
  if (isMissing) return { isBlocked: () => true, problems: [problem.missing(name)] };

  const problems: Problem[] = [];
  const blocked = new Set<RowId>();
  const blockedClusters = new Set<string>();
  for (const cluster of clusters) {
    const found = parentProblem(observed, decisions.get(rowIdOf(cluster)), cluster, rows);
    if (found === undefined) continue;
    problems.push(found);
    blockedClusters.add(cluster);
  }
  const unknownQos = new Set<string>();
  for (const [id, fields] of desired) {
    const used = [...(Array.isArray(fields['qos']) ? fields['qos'] : []), fields['defaultQos']];
    const unknown = used.filter(
      (qos): qos is string => typeof qos === 'string' && !isKnownQos(observed, qos),
    );
    for (const qos of unknown) unknownQos.add(qos);
    if (unknown.length > 0) blocked.add(id);
  }
  if (unknownQos.size > 0) problems.push(problem.missingQos([...unknownQos].toSorted()));
  const joining = [...decisions].filter(([, { kind }]) => kind === 'NotAdopted').map(([id]) => id);
  if (joining.length > 0) problems.push(problem.membersNotAdopted(name, joining));
  const isCreated = (cluster: string) => decisions.get(rowIdOf(cluster))?.kind === 'Create';
  return {
    problems,
    isBlocked: (id) => {
      const place = placeOf(id);
      if (place === undefined)
        // The record is created with the first row of the account.
        return (
          !rows.records.has(name) &&
          clusters.every((cluster) => blockedClusters.has(cluster) || blocked.has(rowIdOf(cluster)))
        );
      const waitsForAccount = isCreated(place.cluster) && blocked.has(rowIdOf(place.cluster));
      return blocked.has(id) || blockedClusters.has(place.cluster) || waitsForAccount;
    },
  };
}

const isKnownQos = ({ qos }: ObservedAccount, name: string): boolean =>
  qos.kind === 'known' && qos.byName.has(name);

/** Of the row that is created or moved. */
function parentProblem(
  observed: ObservedAccount,
  decision: Decision | undefined,
  cluster: string,
  { byKey }: KnownAccounts,
): Problem | undefined {
  const { account, parents } = observed;
  const isMoved = decision?.changes.some(({ path }) => path === 'parent') ?? false;
  if (decision?.kind !== 'Create' && !isMoved) return undefined;
  const name = accountName(account);
  const { parent = 'root' } = account.spec;
  const declared = (one: string) => parents.get(one) || undefined;
  if (leadsBack(name, parent, declared)) return problem.parentCycle(name, parent);
  if (!byKey.has(rowKey(cluster, parent))) return problem.missingParent(name, parent, cluster);
  // It is below this account until its own object, if there is one, has moved it.
  if (leadsBack(name, parent, (one) => byKey.get(rowKey(cluster, one))?.parent))
    return problem.parentCycle(name, parent);
  return undefined;
}

function leadsBack(name: string, parent: string, above: (account: string) => string | undefined): boolean {
  const seen = new Set<string>();
  for (let one: string | undefined = parent; one && !seen.has(one); one = above(one)) {
    if (one === name) return true;
    seen.add(one);
  }
  return false;
}

/** Members that the operator wrote or adopted, and that the specification does not name any more. */
function leavingMembers(
  { account }: ObservedAccount,
  desired: ReadonlyMap<RowId, Fields>,
  clusters: readonly string[],
  { byKey }: KnownAccounts,
): RowPlace[] {
  const name = accountName(account);
  const owned = [...(readRows(account.status?.applied)?.keys() ?? [])].flatMap((id) => placeOf(id) ?? []);
  return owned
    .filter(({ cluster, user }) => user !== '' && clusters.includes(cluster))
    .filter(({ cluster, user }) => !desired.has(rowIdOf(cluster, user)))
    .filter(({ cluster, user }) => byKey.has(rowKey(cluster, name, user)))
    .slice(0, mostRemovals);
}

function planDeletion(observed: ObservedAccount, now: number): AccountPlan {
  const { account, rows, hasFinalizer, accountingExists, controllers } = observed;
  const applied = readRows(account.status?.applied);
  const common = { desired: new Map(), decisions: new Map(), applied };
  if (!hasFinalizer) return { ...common, actions: [], problems: [] };
  const name = accountName(account);
  const isGone = !accountingExists || controllers.length === 0;
  const decided = decideDeletion({
    deletionPolicy: account.spec.deletionPolicy,
    applied: applied && {},
    slurm: isGone ? 'gone' : rows.kind,
    rowExists: rows.kind === 'known' && rows.records.has(name),
  });
  if (decided === 'Release')
    return { ...common, actions: [{ type: 'RemoveFinalizer', title: 'finalizer' }], problems: [] };
  const lookAgainAt = now + rowsPeriod;
  if (decided === 'Wait' || rows.kind === 'unknown')
    return { ...common, actions: [], problems: [problem.databaseUnknown(observed)], lookAgainAt };
  const foreign = rows.rows.filter(
    (row) =>
      (row.account === name && (row.partition !== '' || !applied?.has(rowIdOf(row.cluster, row.user)))) ||
      (row.user === '' && row.parent === name),
  );
  if (foreign.length > 0)
    return { ...common, actions: [], problems: [problem.notEmpty(name, foreign)], lookAgainAt };
  const members = rows.rows.filter((row) => row.account === name && row.user !== '');
  const remove: AccountAction = {
    type: 'DeleteAccount',
    title: `account ${name}`,
    members: members.map(({ cluster, user }) => ({ cluster, user })),
  };
  return { ...common, actions: [remove], problems: [], lookAgainAt };
}

/** Its changes, each named with the row: "alice: set fairshare to 3". */
export function planned(id: RowId, { changes }: Pick<Decision, 'changes'>): readonly FieldChange[] {
  const place = placeOf(id);
  const prefix =
    place === undefined ? '' : place.user === '' ? `${place.cluster} ` : `${place.cluster} ${place.user} `;
  return changes.map((change) => ({ ...change, path: `${prefix}${change.path}` }));
}

export const linesOf = (decisions: ReadonlyMap<RowId, Decision>, of: 'changes' | 'drift'): string[] =>
  changeLines([...decisions].flatMap(([id, decision]) => planned(id, { changes: decision[of] })));
