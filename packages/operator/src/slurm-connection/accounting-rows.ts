/**
 * The rows of an accounting database that objects declare: one list for all objects of an Accounting, read again after each write. Slurm has
 * no watch for them, and no answer "unchanged".
 */
import {
  type AssociationRow,
  type SlurmAccount,
  type SlurmClient,
  SlurmError,
  type SlurmQos,
} from '@slurm-operator/slurm';

/** How old a list may be that a decision is made from. */
const listPeriod = 25_000;
/** Objects look again this often, so that a change by someone else is found. */
export const rowsPeriod = 30_000;
const listTimeout = 20_000;

type Unknown = { readonly kind: 'unknown'; readonly why: string };

export type Rows<T> =
  | { readonly kind: 'known'; readonly at: number; readonly byName: ReadonlyMap<string, T> }
  | Unknown;

export interface KnownAccounts {
  readonly kind: 'known';
  readonly at: number;
  /** Description, organization and coordinators, by name. */
  readonly records: ReadonlyMap<string, SlurmAccount>;
  readonly rows: readonly AssociationRow[];
  /** Those for every partition, by {@link rowKey}. */
  readonly byKey: ReadonlyMap<string, AssociationRow>;
  /** Users with an account. */
  readonly users: ReadonlySet<string>;
}

export type AccountRows = KnownAccounts | Unknown;

/** Of an account (without a user) or a member, for every partition. No part contains a slash. */
export const rowKey = (cluster: string, account: string, user = ''): string =>
  `${cluster}/${account}/${user}`;

export const knownAccounts = (
  records: readonly SlurmAccount[],
  rows: readonly AssociationRow[],
  at: number,
): KnownAccounts => ({
  kind: 'known',
  at,
  records: new Map(records.map((record) => [record.name, record])),
  rows,
  byKey: new Map(
    rows
      .filter(({ partition }) => partition === '')
      .map((row) => [rowKey(row.cluster, row.account, row.user), row]),
  ),
  users: new Set(rows.map(({ user }) => user).filter((user) => user !== '')),
});

/** One table: the list of each connection, as long as it is new enough. */
class Table<T extends { readonly kind: string }> {
  readonly #now: () => number;
  readonly #list: (client: SlurmClient, at: number) => Promise<T>;
  /** By connection: one that was replaced is forgotten with its rows. */
  readonly #readings = new WeakMap<
    SlurmClient,
    { readonly at: number; readonly rows: Promise<T | Unknown> }
  >();

  constructor(now: () => number, list: (client: SlurmClient, at: number) => Promise<T>) {
    this.#now = now;
    this.#list = list;
  }

  /** Never throws for an outage: rows that cannot be read are unknown, never absent. */
  get(client: SlurmClient): Promise<T | Unknown> {
    const at = this.#now();
    const known = this.#readings.get(client);
    if (known !== undefined && at >= known.at && at - known.at < listPeriod) return known.rows;
    const rows = unlessSilent(this.#list(client, at));
    const reading = { at, rows };
    this.#readings.set(client, reading);
    // A failure is not remembered: the next object that asks tries again.
    const forgetUnknown = async () => {
      const { kind } = await rows.catch(() => ({ kind: 'unknown' }));
      if (kind === 'unknown' && this.#readings.get(client) === reading) this.#readings.delete(client);
    };
    void forgetUnknown();
    return rows;
  }

  forget(client: SlurmClient): void {
    this.#readings.delete(client);
  }
}

export class AccountingRows {
  readonly #qos: Table<Rows<SlurmQos>>;
  readonly #accounts: Table<KnownAccounts>;

  constructor(now: () => number) {
    this.#qos = new Table(now, listQos);
    this.#accounts = new Table(now, listAccounts);
  }

  qos(client: SlurmClient): Promise<Rows<SlurmQos>> {
    return this.#qos.get(client);
  }

  accounts(client: SlurmClient): Promise<AccountRows> {
    return this.#accounts.get(client);
  }

  /** A list that begins after this call. */
  freshQos(client: SlurmClient): Promise<Rows<SlurmQos>> {
    this.#qos.forget(client);
    return this.qos(client);
  }

  freshAccounts(client: SlurmClient): Promise<AccountRows> {
    this.#accounts.forget(client);
    return this.accounts(client);
  }

  /** After a write. */
  invalidateQos(client: SlurmClient): void {
    this.#qos.forget(client);
  }

  invalidateAccounts(client: SlurmClient): void {
    this.#accounts.forget(client);
  }
}

async function unlessSilent<T>(list: Promise<T>): Promise<T | Unknown> {
  try {
    return await list;
  } catch (error) {
    if (!(error instanceof SlurmError)) throw error;
    return { kind: 'unknown', why: error.message };
  }
}

async function listQos({ accounting }: SlurmClient, at: number): Promise<Rows<SlurmQos>> {
  const rows = await accounting.qos.list({ timeoutMs: listTimeout });
  return { kind: 'known', at, byName: new Map(rows.map((row) => [row.name, row])) };
}

async function listAccounts({ accounting: { table } }: SlurmClient, at: number): Promise<KnownAccounts> {
  const options = { timeoutMs: listTimeout };
  const [records, rows] = await Promise.all([table.list(options), table.rows(options)]);
  return knownAccounts(records, rows, at);
}
