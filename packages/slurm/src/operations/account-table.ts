/**
 * Accounts, their members and what these may use: read whole, written whole. How rows are created matters: an account that POST
 * associations created has no place in the tree of slurmdbd (an empty lineage), and slurmdbd 26.05 deletes it under running jobs. So rows are
 * created by the requests that sacctmgr uses, and changed by the others.
 */
import {
  readAssociationRow,
  tresOfAssociation,
  type WireAssociation,
  writeAssociationRow,
} from '../adapters/association-wire.ts';
import type { Connection } from '../connection/connection.ts';
import { InvalidInput, NotSupported } from '../errors.ts';
import type { SlurmAccount } from '../model/accounting.ts';
import {
  type AssociationKey,
  type AssociationRow,
  associationName,
  emptyAssociation,
} from '../model/association.ts';
import {
  checkAccountingName,
  checkTracked,
  checkUserName,
  emptyListPlaceholder,
  type ListTres,
} from './accounting-names.ts';
import { type CallOptions, callOptions, Endpoint, type WriteResult } from './endpoint.ts';

export interface NewAccount {
  readonly name: string;
  readonly description: string;
  readonly organization: string;
  /** It must exist. */
  readonly parent: string;
}

/** Where an account is in the tree of one cluster. */
export interface AccountPlace {
  readonly cluster: string;
  readonly name: string;
  /** It must exist, or be created by the same change. */
  readonly parent: string;
}

export type AccountRecord = Pick<SlurmAccount, 'name' | 'description' | 'organization' | 'coordinators'>;

export interface AccountChanges {
  /** Accounts that a cluster does not have. */
  readonly accounts: readonly AccountPlace[];
  /** Of accounts that exist or are created; whole. Coordinators must be users that Slurm knows: it ignores others. */
  readonly records: readonly AccountRecord[];
  /** Whole rows. Members that do not exist are created, and users that Slurm does not know. */
  readonly rows: readonly AssociationRow[];
}

export class AccountTable {
  readonly #endpoint: Endpoint;
  readonly #listTres: ListTres;

  constructor(connection: Connection, listTres: ListTres) {
    this.#endpoint = new Endpoint(connection);
    this.#listTres = listTres;
  }

  /** With their coordinators. */
  async list(options?: CallOptions): Promise<readonly SlurmAccount[]> {
    const query = { WithCoordinators: 'true' };
    const call = {
      method: 'GET',
      service: 'slurmdb',
      path: 'accounts/',
      query,
      ...callOptions(options),
    } as const;
    return (await this.#endpoint.list(call, 'accounts', (adapter) => adapter.account)).items;
  }

  /** Every row with its own values only: without a parameter Slurm lists inherited limits as if they were set. */
  async rows(options?: CallOptions): Promise<readonly AssociationRow[]> {
    const { version } = await this.#endpoint.adapter(options);
    // From v0.0.42 on the name of the parameter is the sentence that described it before.
    const name = version === 'v0.0.41' ? 'without_parent_limits' : 'Exclude limits from parents';
    const query = { [name]: 'true' };
    const call = {
      method: 'GET',
      service: 'slurmdb',
      path: 'associations/',
      query,
      ...callOptions(options),
    } as const;
    const read = () => (raw: unknown) => readAssociationRow(raw as WireAssociation);
    return (await this.#endpoint.list(call, 'associations', read)).items;
  }

  /** Creates accounts below parents that exist; those that exist already stay as they are. */
  async create(cluster: string, accounts: readonly NewAccount[], options?: CallOptions): Promise<void> {
    checkAccountingName('cluster', cluster);
    for (const { name, parent } of accounts)
      for (const each of [name, parent]) checkAccountingName('account', each);
    // One request for each: it has one description and one parent.
    for (const { name, parent, description, organization } of accounts)
      await this.#post(
        'accounts_association/',
        {
          association_condition: { accounts: [name], clusters: [cluster], association: { parent } },
          account: { description, organization },
        },
        options,
      );
  }

  /** Makes description, organization and coordinators of existing accounts what is given. */
  async describe(
    accounts: readonly Pick<SlurmAccount, 'name' | 'description' | 'organization' | 'coordinators'>[],
    options?: CallOptions,
  ): Promise<WriteResult> {
    for (const { name, coordinators } of accounts) {
      checkAccountingName('account', name);
      coordinators.forEach(checkUserName);
    }
    const known = new Set((await this.list(options)).map(({ name }) => name));
    const missing = accounts.find(({ name }) => !known.has(name));
    if (missing !== undefined)
      throw new InvalidInput(`account ${missing.name} does not exist: create it with its parent first`);
    return this.#post('accounts/', { accounts: accounts.map(writeRecord) }, options);
  }

  /** Adds users to one account, and creates those that Slurm does not know. Members that exist stay as they are. */
  async addMembers(
    at: { readonly cluster: string; readonly account: string; readonly partition?: string },
    users: readonly string[],
    options?: CallOptions,
  ): Promise<WriteResult> {
    checkAccountingName('cluster', at.cluster);
    checkAccountingName('account', at.account);
    users.forEach(checkUserName);
    // Slurm reports success for an account that it does not have.
    const known = await this.rows(options);
    if (
      !known.some(
        ({ account, cluster, user }) => account === at.account && cluster === at.cluster && user === '',
      )
    )
      throw new InvalidInput(
        `account ${at.account} does not exist on cluster ${at.cluster}: create it first`,
      );
    return this.#post(
      'users_association/',
      {
        association_condition: {
          users,
          accounts: [at.account],
          clusters: [at.cluster],
          ...(at.partition !== undefined && at.partition !== '' && { partitions: [at.partition] }),
          association: {},
        },
        user: {},
      },
      options,
    );
  }

  /**
   * Makes each of these existing rows exactly what is given; others stay as they are. A member that is not the default any more stays it
   * until another one is. Two writers of one row overwrite each other: Slurm has no conditional writes.
   */
  async write(desired: readonly AssociationRow[], options?: CallOptions): Promise<WriteResult> {
    for (const row of desired) checkRow(row);
    await this.#checkTres(desired, options);
    checkAgainst(desired, await this.rows(options));
    return this.#post('associations/', { associations: desired.map(writeAssociationRow) }, options);
  }

  /**
   * Changes of many rows in few requests, whatever their number: one for the new accounts below each parent, and one each for users,
   * associations and records. `current` is a list that the caller has just read. Safe to repeat after a failure at any point.
   */
  async change(
    changes: AccountChanges,
    current: readonly AssociationRow[],
    options?: CallOptions,
  ): Promise<void> {
    const { accounts, records, rows } = changes;
    for (const { cluster, name, parent } of accounts) {
      checkAccountingName('cluster', cluster);
      for (const each of [name, parent]) checkAccountingName('account', each);
    }
    for (const row of rows) checkRow(row);
    for (const { name, coordinators } of records) {
      checkAccountingName('account', name);
      coordinators.forEach(checkUserName);
    }
    await this.#checkTres(rows, options);
    const known = new Map(current.map((row) => [associationName(row), row]));
    const created = accounts.map(({ cluster, name, parent }) =>
      emptyAssociation({ cluster, account: name, user: '', partition: '' }, parent),
    );
    checkChanges(rows, [...current, ...created]);
    for (const group of byParent(accounts)) await this.#createBelow(group, options);
    const users = new Set(current.map(({ user }) => user));
    const newUsers = [...new Set(rows.map(({ user }) => user))].filter(
      (user) => user !== '' && !users.has(user),
    );
    if (newUsers.length > 0)
      await this.#post('users/', { users: newUsers.map((name) => ({ name })) }, options);
    const emptied = rows.filter(
      (row) => row.qos.length === 0 && (known.get(associationName(row))?.qos.length ?? 0) > 0,
    );
    if (emptied.length > 0) await this.#post('qos/', { qos: [{ name: emptyListPlaceholder }] }, options);
    const wire = rows.map((row) => {
      const written = writeAssociationRow(
        emptied.includes(row) ? { ...row, qos: [emptyListPlaceholder], defaultQos: '' } : row,
      );
      if (known.has(associationName(row)) || row.user === '') return written;
      // An empty partition would be part of the place that slurmdbd gives the row in the tree.
      return row.partition === '' ? without(written, 'partition') : written;
    });
    if (wire.length > 0) await this.#post('associations/', { associations: wire }, options);
    if (emptied.length > 0) await this.#delete(`qos/${emptyListPlaceholder}`, {}, options);
    if (records.length > 0) await this.#post('accounts/', { accounts: records.map(writeRecord) }, options);
  }

  async #createBelow(group: readonly AccountPlace[], options?: CallOptions): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    await this.#post(
      'accounts_association/',
      {
        association_condition: {
          accounts: group.map(({ name }) => name),
          clusters: [first.cluster],
          association: { parent: first.parent },
        },
        account: { description: '', organization: '' },
      },
      options,
    );
  }

  #checkTres(rows: readonly AssociationRow[], options?: CallOptions): Promise<void> {
    const used = rows.flatMap((row) =>
      tresOfAssociation(row).map((tres) => [tres, associationName(row)] as const),
    );
    return checkTracked(new Map(used), this.#listTres, options);
  }

  /** Slurm refuses for the default account of a user (7009), and while jobs run (7001): `Refused`. */
  async removeMember(key: AssociationKey, options?: CallOptions): Promise<WriteResult> {
    checkAccountingName('cluster', key.cluster);
    checkAccountingName('account', key.account);
    // Without a user the same request removes the account with everything below it.
    checkUserName(key.user);
    const { cluster, account, user, partition } = key;
    return this.#delete('association/', { cluster, account, user, partition }, options);
  }

  /** Removes the user from every account. */
  async deleteUser(name: string, options?: CallOptions): Promise<WriteResult> {
    checkUserName(name);
    return this.#delete(`user/${encodeURIComponent(name)}`, {}, options);
  }

  /** Slurm would delete members and accounts below it as well: they must be gone before. */
  async delete(name: string, options?: CallOptions): Promise<WriteResult> {
    checkAccountingName('account', name);
    const below = (await this.rows(options)).filter((row) =>
      row.user === '' ? row.parent === name : row.account === name,
    );
    const [first] = below;
    if (first !== undefined)
      throw new InvalidInput(
        `account ${name} is not deleted while it has ${below.length} members or accounts below it, such as ${associationName(first)}: remove them first`,
      );
    return this.#delete(`account/${encodeURIComponent(name)}`, {}, options);
  }

  /** Slurm answers "not modified" where everything is as asked for. */
  async #post(path: string, body: unknown, options?: CallOptions): Promise<WriteResult> {
    const call = {
      method: 'POST',
      service: 'slurmdb',
      path,
      body,
      idempotent: true,
      ...callOptions(options),
    } as const;
    return this.#endpoint.accepted((await this.#endpoint.connection.ask(call)).warnings);
  }

  #delete(path: string, query: Record<string, string>, options?: CallOptions): Promise<WriteResult> {
    const call = {
      method: 'DELETE',
      service: 'slurmdb',
      path,
      query,
      idempotent: true,
      ...callOptions(options),
    } as const;
    return this.#endpoint.write(call);
  }
}

const writeRecord = ({ name, description, organization, coordinators }: AccountRecord) => ({
  name,
  description,
  organization,
  coordinators: coordinators.map((user) => ({ name: user, direct: true })),
});

function without(row: Readonly<Record<string, unknown>>, field: string): Readonly<Record<string, unknown>> {
  const { [field]: _, ...rest } = row;
  return rest;
}

/** Groups that one request creates, parents before children. */
function byParent(accounts: readonly AccountPlace[]): readonly (readonly AccountPlace[])[] {
  const groups: AccountPlace[][] = [];
  const isLeft = new Set(accounts);
  while (isLeft.size > 0) {
    const waiting = new Set([...isLeft].map(({ cluster, name }) => `${cluster}/${name}`));
    const ready = [...isLeft].filter(({ cluster, parent }) => !waiting.has(`${cluster}/${parent}`));
    const [first] = ready;
    if (first === undefined)
      throw new InvalidInput(`accounts ${[...waiting].join(', ')} are below each other: correct a parent`);
    const group = ready.filter(({ cluster, parent }) => cluster === first.cluster && parent === first.parent);
    for (const each of group) isLeft.delete(each);
    groups.push(group);
  }
  return groups;
}

/** What Slurm would ignore with success: members of accounts and parents that do not exist. */
function checkChanges(rows: readonly AssociationRow[], current: readonly AssociationRow[]): void {
  const known = new Map(current.map((row) => [associationName(row), row]));
  for (const row of rows) {
    const { cluster, account } = row;
    if (!known.has(associationName({ cluster, account, user: '', partition: '' })))
      throw new InvalidInput(`account ${account} does not exist on cluster ${cluster}: create it first`);
    if (row.parent !== '' && row.parent !== known.get(associationName(row))?.parent)
      checkParent(row, current);
  }
}

function checkRow({ cluster, account, user, parent, qos, defaultQos }: AssociationRow): void {
  checkAccountingName('cluster', cluster);
  checkAccountingName('account', account);
  if (user !== '') checkUserName(user);
  if (parent !== '') checkAccountingName('account', parent);
  for (const name of [...qos, ...(defaultQos === '' ? [] : [defaultQos])]) checkAccountingName('QOS', name);
}

/** What Slurm would ignore with success: rows and parents that do not exist, a list of QOS that becomes empty. */
function checkAgainst(desired: readonly AssociationRow[], rows: readonly AssociationRow[]): void {
  const known = new Map(rows.map((row) => [associationName(row), row]));
  for (const row of desired) {
    const current = known.get(associationName(row));
    if (current === undefined)
      throw new InvalidInput(`there is no association of ${associationName(row)}: create it first`);
    if (current.qos.length > 0 && row.qos.length === 0)
      throw new NotSupported(
        `Slurm cannot empty the QOS list of ${associationName(row)} by REST: run sacctmgr -i modify ${row.user === '' ? 'account' : `user ${row.user} where account=`}${row.user === '' ? ` ${row.account}` : row.account} set qos=`,
      );
    if (row.parent !== '' && row.parent !== current.parent) checkParent(row, rows);
  }
}

function checkParent({ cluster, account, parent }: AssociationRow, rows: readonly AssociationRow[]): void {
  const parents = new Map(
    rows.filter((row) => row.user === '' && row.cluster === cluster).map((row) => [row.account, row.parent]),
  );
  if (!parents.has(parent))
    throw new InvalidInput(
      `account ${parent} does not exist on cluster ${cluster}: create it before ${account} is moved below it`,
    );
  for (
    let above: string | undefined = parent;
    above !== undefined && above !== '';
    above = parents.get(above)
  )
    if (above === account)
      throw new InvalidInput(`account ${account} cannot be moved below ${parent}, which is below it`);
}
