/** What the plan and the status of an Account are made from. Reads, and changes nothing. */
import { type Account, finalizer } from '@slurm-operator/api';
import type { Cache, Live } from '@slurm-operator/kube';
import type { SlurmClient, SlurmQos } from '@slurm-operator/slurm';
import { accountings, accounts, controllers } from '../../cache/resources.ts';
import { clusterNameOf } from '../../objects/slurmctld-endpoints.ts';
import type { AccountingRows, AccountRows, Rows } from '../../slurm-connection/accounting-rows.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import type { SlurmConnection } from '../../slurm-connection/slurm-connection.ts';
import { accountName } from './fields.ts';

export interface ObservedAccount {
  readonly account: Live<Account>;
  readonly isDeleted: boolean;
  readonly hasFinalizer: boolean;
  readonly accountingExists: boolean;
  /** Controllers that use the Accounting: without one there is no way to its database. */
  readonly controllers: readonly { readonly name: string; readonly cluster: string }[];
  readonly rows: AccountRows;
  readonly qos: Rows<Pick<SlurmQos, 'name'>>;
  /** An older object that declares the same account. */
  readonly conflict: string | undefined;
  /** Parents that objects of this Accounting declare, by account. */
  readonly parents: ReadonlyMap<string, string>;
  /** Members whose default account an older object declares: user → object. */
  readonly defaultsElsewhere: ReadonlyMap<string, string>;
}

const unconnected = { kind: 'unknown', why: 'the operator is not connected to Slurm' } as const;

export class AccountObserver {
  readonly #cache: Cache;
  readonly #pool: Pick<ConnectionPool, 'get'>;
  readonly #rows: AccountingRows;

  constructor(cache: Cache, pool: Pick<ConnectionPool, 'get'>, rows: AccountingRows) {
    this.#cache = cache;
    this.#pool = pool;
    this.#rows = rows;
  }

  async observe(account: Live<Account>): Promise<ObservedAccount> {
    const { namespace } = account.metadata;
    const { name } = account.spec.accountingRef;
    const client = this.clientOf(account);
    const [rows, qos] =
      client === undefined
        ? [unconnected, unconnected]
        : await Promise.all([this.#rows.accounts(client), this.#rows.qos(client)]);
    const siblings = this.#siblingsOf(account);
    return {
      account,
      isDeleted: account.metadata.deletionTimestamp !== undefined,
      hasFinalizer: account.metadata.finalizers?.includes(finalizer.declared) ?? false,
      accountingExists: this.#cache.get(accountings, { namespace, name }) !== undefined,
      controllers: this.#controllersOf(account),
      rows,
      qos,
      conflict: conflictOf(account, siblings),
      parents: new Map(siblings.map((one) => [accountName(one), one.spec.parent ?? ''])),
      defaultsElsewhere: defaultsElsewhere(account, siblings),
    };
  }

  /** Any Controller that uses the Accounting leads to its database: one whose Slurm answers, if there is one. */
  clientOf(account: Live<Account>): SlurmClient | undefined {
    const connections = this.#controllersOf(account).flatMap(
      ({ name }) => this.#connection(account, name) ?? [],
    );
    const answering = connections.find(({ gateway }) => gateway.view().kind === 'known');
    return (answering ?? connections[0])?.client;
  }

  /** Of every Controller that uses the Accounting; undefined: the operator is not connected to it. */
  connectionsOf(account: Live<Account>): ReadonlyMap<string, SlurmClient | undefined> {
    return new Map(
      this.#controllersOf(account).map(({ name }) => [name, this.#connection(account, name)?.client]),
    );
  }

  #connection({ metadata }: Live<Account>, controller: string): SlurmConnection | undefined {
    return this.#pool.get(`${metadata.namespace}/${controller}`);
  }

  #controllersOf({ metadata: { namespace }, spec }: Live<Account>): { name: string; cluster: string }[] {
    return this.#cache
      .list(controllers, { namespace })
      .filter((one) => one.spec.accountingRef?.name === spec.accountingRef.name)
      .map((one) => ({ name: one.metadata.name, cluster: clusterNameOf(one) }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** Accounts of the same Accounting, this one included, the oldest first. */
  #siblingsOf({ metadata: { namespace }, spec }: Live<Account>): Live<Account>[] {
    return this.#cache
      .list(accounts, { namespace })
      .filter((one) => one.spec.accountingRef.name === spec.accountingRef.name)
      .toSorted(olderFirst);
  }
}

function conflictOf(account: Live<Account>, siblings: readonly Live<Account>[]): string | undefined {
  const owner = siblings.find((one) => accountName(one) === accountName(account));
  return owner === undefined || owner.metadata.uid === account.metadata.uid ? undefined : owner.metadata.name;
}

function defaultsElsewhere(
  account: Live<Account>,
  siblings: readonly Live<Account>[],
): ReadonlyMap<string, string> {
  const claimed = new Set(
    (account.spec.members ?? []).filter((member) => member.default === true).map(({ user }) => user),
  );
  const elsewhere = new Map<string, string>();
  if (claimed.size === 0) return elsewhere;
  const clusters = new Set(account.spec.clusters ?? []);
  for (const one of siblings) {
    if (one.metadata.uid === account.metadata.uid) break;
    const theirs = one.spec.clusters;
    const isShared = theirs === undefined || clusters.size === 0 || theirs.some((name) => clusters.has(name));
    if (!isShared || one.metadata.deletionTimestamp !== undefined) continue;
    for (const { user, default: isDefault } of one.spec.members ?? [])
      if (isDefault === true && claimed.has(user) && !elsewhere.has(user))
        elsewhere.set(user, one.metadata.name);
  }
  return elsewhere;
}

/** Times of creation are whole seconds: in one second the name decides, which is the same for every look. */
const ageOf = ({ metadata }: Live): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
const olderFirst = (one: Live, other: Live): number => (ageOf(one) < ageOf(other) ? -1 : 1);
