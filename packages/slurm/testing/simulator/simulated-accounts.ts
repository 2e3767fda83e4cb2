/** Accounts, users and associations of a simulated slurmdbd, changed as slurmdbd does (contract suite, "writing accounts"). */
import { bad, good, type Reply } from './reply.ts';
import type { Request } from './request.ts';
import {
  association,
  account as newAccount,
  user as newUser,
  tres as tracked,
} from './simulated-accounting.ts';
import type { Wire } from './wire-format.ts';

interface Tres {
  readonly type: string;
  readonly name?: string;
}
type Row = Record<string, unknown> & {
  readonly account: string;
  readonly cluster: string;
  readonly user: string;
  readonly partition: string;
};

/** Limits that rows below inherit. */
const inheritedNumbers = [
  'max.jobs.active',
  'max.jobs.accruing',
  'max.jobs.total',
  'max.jobs.per.wall_clock',
  'min.priority_threshold',
];
const inheritedTres = [
  'max.tres.minutes.total',
  'max.tres.minutes.per.job',
  'max.tres.per.job',
  'max.tres.per.node',
];
const allTres = ['max.tres.total', 'max.tres.group.minutes', 'max.tres.group.active', ...inheritedTres];

const refusal = ({ cluster }: Request) => (cluster.release === '26.05' ? 422 : 500);
const rowsOf = ({ cluster }: Request) => cluster.accounting.associations as Map<string, Row>;
const keyOf = ({ account, user = '', partition = '' }: Partial<Row> & { readonly account: string }) =>
  `${account}/${user}/${partition}`;
const unchanged: Reply = { status: 304 };

export function listAssociations(request: Request): Reply {
  const { query, version } = request;
  const own = query.get(version === 'v0.0.41' ? 'without_parent_limits' : 'Exclude limits from parents');
  const isMeant = (row: Row) =>
    ['account', 'user', 'cluster'].every((field) => !query.get(field) || query.get(field) === row[field]);
  const rows = [...rowsOf(request).values()].filter(isMeant);
  return good({ associations: own === 'true' ? rows : rows.map((row) => effective(row, rowsOf(request))) });
}

/** With what it inherits from the rows above. */
function effective(row: Row, rows: ReadonlyMap<string, Row>): Row {
  const result = structuredClone(row);
  const first = row.user === '' ? String(row['parent_account']) : row.account;
  for (let above = rows.get(keyOf({ account: first })); above !== undefined; ) {
    for (const path of inheritedNumbers)
      if (!(at(result, path) as { set: boolean }).set) put(result, path, at(above, path));
    for (const path of inheritedTres)
      put(result, path, mergeTres(at(above, path) as Tres[], at(result, path) as Tres[]));
    if ((result['qos'] as string[]).length === 0) (result as Record<string, unknown>)['qos'] = above['qos'];
    if (at(result, 'default.qos') === '') put(result, 'default.qos', at(above, 'default.qos'));
    above = rows.get(keyOf({ account: String(above['parent_account']) }));
  }
  return result;
}

/** Both texts are required; coordinators are replaced. An account that does not exist gets no place in the tree. */
export function putAccounts(request: Request): Reply {
  const { accounts } = request.cluster.accounting;
  const rows = (request.body['accounts'] ?? []) as (Wire & { name: string })[];
  for (const [index, row] of rows.entries())
    for (const field of ['description', 'organization'])
      if (row[field] === undefined)
        return bad(
          refusal(request),
          9200,
          'Unable to resolve path',
          `Missing required field '${field}' in dictionary: accounts[${index}]`,
        );
  const { users } = request.cluster.accounting;
  for (const row of rows) {
    const coordinators = (row['coordinators'] ?? []) as { name: string }[];
    accounts.set(row.name, {
      ...newAccount(row.name),
      ...accounts.get(row.name),
      ...row,
      // Others are ignored, with success.
      coordinators: coordinators.filter(({ name }) => users.has(name)),
    });
  }
  return good();
}

export function addAccounts(request: Request): Reply {
  const { accounts } = request.cluster.accounting;
  const condition = request.body['association_condition'] as {
    accounts: string[];
    clusters?: string[];
    association?: { parent?: string };
  };
  const { description = '', organization = '' } = (request.body['account'] ?? {}) as Record<string, string>;
  if (condition.clusters?.some((name) => name !== 'mini'))
    return bad(refusal(request), 7104, 'Invalid cluster name');
  const parent = condition.association?.parent ?? 'root';
  const rows = rowsOf(request);
  if (!rows.has(keyOf({ account: parent })))
    return bad(refusal(request), 2046, 'Invalid parent account specified');
  const added = condition.accounts.filter((account) => !rows.has(keyOf({ account })));
  for (const account of added) {
    accounts.set(account, newAccount(account, description, organization));
    rows.set(keyOf({ account }), {
      ...association({ account }),
      parent_account: parent,
      qos: [],
      lineage: lineageOf(rows.get(keyOf({ account: parent })), account),
    });
  }
  return added.length === 0 ? unchanged : good({ added_accounts: added.join(' ') });
}

/** Users without any account; those that exist stay as they are. */
export function putUsers({ cluster, body }: Request): Reply {
  const { users } = cluster.accounting;
  for (const { name } of (body['users'] ?? []) as { name: string }[])
    if (!users.has(name)) users.set(name, newUser(name));
  return good();
}

/** An account that does not exist is ignored, with success. */
export function addUsers(request: Request): Reply {
  const { users } = request.cluster.accounting;
  const condition = request.body['association_condition'] as {
    users: string[];
    accounts: string[];
    partitions?: string[];
  };
  const rows = rowsOf(request);
  let added = 0;
  for (const account of condition.accounts.filter((name) => rows.has(keyOf({ account: name }))))
    for (const user of condition.users)
      for (const partition of condition.partitions ?? ['']) {
        const key = keyOf({ account, user, partition });
        if (rows.has(key)) continue;
        if (!users.has(user)) users.set(user, newUser(user));
        const hasDefault = [...rows.values()].some((row) => row.user === user && row['is_default'] === true);
        const row = { ...association({ account, user, partition }), is_default: !hasDefault, qos: [] };
        const lineage = lineageOf(
          rows.get(keyOf({ account })),
          `0-${user}`,
          partition === '' ? undefined : partition,
        );
        rows.set(key, { ...row, lineage });
        added += 1;
      }
  return added === 0 ? unchanged : good({ added_users: String(added) });
}

/** Scalars that are left out stay; TRES that are left out are removed; a parent that does not exist is ignored. */
export function putAssociations(request: Request): Reply {
  const rows = rowsOf(request);
  const changes = (request.body['associations'] ?? []) as Row[];
  for (const { qos = [] } of changes as unknown as { qos?: string[] }[])
    for (const name of qos)
      if (!request.cluster.accounting.qos.has(name))
        return bad(refusal(request), 2066, 'Invalid qos specification', `Unable to resolve QOS: ${name}`);
  for (const change of changes) {
    const row = rows.get(keyOf(change)) ?? newMember(change, rows);
    if (row === undefined) continue;
    const {
      parent_account: parent,
      is_default: isDefault,
      qos,
      max,
      ...rest
    } = change as Record<string, unknown>;
    delete rest['comment']; // ignored, with success
    const next = merge(row, { ...rest, ...(max === undefined ? {} : { max }) }) as Row;
    for (const path of allTres) put(next, path, known((at(change, path) ?? []) as Tres[]));
    if (typeof parent === 'string' && rows.has(keyOf({ account: parent })))
      put(next, 'parent_account', parent);
    // Without one, the list in force becomes the row's own.
    put(next, 'qos', Array.isArray(qos) && qos.length > 0 ? qos : effective(row, rows)['qos']);
    if (isDefault === true) {
      for (const other of rows.values()) if (other.user === row.user) put(other, 'is_default', false);
      put(next, 'is_default', true);
    } else put(next, 'is_default', row['is_default']);
    rows.set(keyOf(row), next);
  }
  return good();
}

/** One of an account that does not exist is ignored, with success. */
function newMember(change: Row, rows: ReadonlyMap<string, Row>): Row | undefined {
  const { account, user, partition } = change;
  if (!user || !rows.has(keyOf({ account }))) return undefined;
  const hasDefault = [...rows.values()].some((row) => row.user === user && row['is_default'] === true);
  return {
    ...association({ account, user, ...(partition === undefined ? {} : { partition }) }),
    is_default: !hasDefault,
    qos: [],
    lineage: lineageOf(rows.get(keyOf({ account })), `0-${user}`, partition),
  };
}

/** The place in the tree. An empty partition is a part of it, unlike one that is left out. */
const lineageOf = (above: Row | undefined, name: string, partition?: string): string =>
  `${(above?.['lineage'] as string | undefined) ?? '/'}${name}/${partition === undefined ? '' : `${partition}/`}`;

/** Without a partition the rows of every partition are meant, and more than one is refused. */
export function deleteAssociation(request: Request): Reply {
  const { query } = request;
  const rows = rowsOf(request);
  const isMeant = (row: Row) =>
    row.account === query.get('account') &&
    row.user === query.get('user') &&
    (query.get('partition') === null || row.partition === query.get('partition'));
  const [found, another] = [...rows.values()].filter(isMeant);
  if (found === undefined) return unchanged;
  if (another !== undefined) return bad(500, 9210, 'Request matched more than one object to modify');
  const others = [...rows.values()].some((row) => row.user === found.user && row !== found);
  if (found['is_default'] === true && others)
    return bad(refusal(request), 7009, 'You can not remove the default account of a user');
  rows.delete(keyOf(found));
  return good({ removed_associations: [keyOf(found)] });
}

export function deleteUser(request: Request): Reply {
  const { cluster, parameter } = request;
  if (!cluster.accounting.users.delete(parameter)) return unchanged;
  removeRows(request, ({ user }) => user === parameter);
  return good({ removed_users: [parameter] });
}

/** With its members and every account below it. */
export function deleteAccount(request: Request): Reply {
  const { accounts } = request.cluster.accounting;
  if (!accounts.has(request.parameter)) return unchanged;
  const below = new Set([request.parameter]);
  for (const account of below)
    for (const row of rowsOf(request).values())
      if (row.user === '' && row['parent_account'] === account) below.add(row.account);
  for (const account of below) accounts.delete(account);
  removeRows(request, ({ account }) => below.has(account));
  return good({ removed_accounts: [request.parameter] });
}

function removeRows(request: Request, isMeant: (row: Row) => boolean): void {
  const rows = rowsOf(request);
  for (const [key, row] of rows) if (isMeant(row)) rows.delete(key);
}

const known = (tres: readonly Tres[]): Tres[] =>
  tres.filter(({ type, name = '' }) => tracked.some((one) => one.type === type && one.name === name));

function mergeTres(above: readonly Tres[], own: readonly Tres[]): Tres[] {
  const key = ({ type, name = '' }: Tres) => `${type}/${name}`;
  return [...new Map([...above, ...own].map((tres) => [key(tres), tres])).values()];
}

function merge(current: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...current };
  for (const [key, value] of Object.entries(change)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isObject && 'set' in value) {
      const { infinite } = value as { infinite?: boolean };
      merged[key] =
        infinite === true ? { set: false, infinite: true, number: 0 } : { ...value, infinite: false };
    } else if (isObject)
      merged[key] = merge((current[key] ?? {}) as Record<string, unknown>, value as Record<string, unknown>);
    else merged[key] = value;
  }
  return merged;
}

function at(root: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Wire | undefined)?.[key], root);
}

function put(root: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split('.');
  let place = root;
  for (const key of keys.slice(0, -1)) place = (place[key] ??= {}) as Record<string, unknown>;
  place[keys.at(-1) ?? ''] = value;
}
