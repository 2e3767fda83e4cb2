import type { Adapter } from '../adapters/adapter.ts';
import type { Connection } from '../connection/connection.ts';
import { NotFound } from '../errors.ts';
import type {
  AccountingJob,
  SlurmAccount,
  SlurmAssociation,
  SlurmClusterRecord,
  SlurmTres,
  SlurmUser,
} from '../model/accounting.ts';
import { AccountTable } from './account-table.ts';
import { type CallOptions, callOptions, Endpoint } from './endpoint.ts';
import { QosTable } from './qos.ts';

export interface AccountingJobQuery {
  readonly users?: readonly string[];
  readonly accounts?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAfter?: number;
  readonly endedBefore?: number;
}

/** Requests to slurmdbd. They do not need slurmctld. */
export class Accounting {
  readonly qos: QosTable;
  /** Accounts, members and their limits, to change them. */
  readonly table: AccountTable;
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
    const listTres = (options?: CallOptions) => this.tres(options);
    this.qos = new QosTable(connection, listTres);
    this.table = new AccountTable(connection, listTres);
  }

  /** Resolves if slurmdbd responds. Uses a cheap list where the API has no ping for it. */
  async check(options?: CallOptions): Promise<void> {
    const adapter = await this.#endpoint.adapter(options);
    if (!adapter.abilities.databasePing) return void (await this.clusters(options));
    await this.#endpoint.connection.ask({
      method: 'GET',
      service: 'slurmdb',
      path: 'ping/',
      ...callOptions(options),
    });
  }

  accounts(options?: CallOptions): Promise<readonly SlurmAccount[]> {
    return this.#list('accounts/', 'accounts', (adapter) => adapter.account, {}, options);
  }

  users(options?: CallOptions): Promise<readonly SlurmUser[]> {
    return this.#list('users/', 'users', (adapter) => adapter.user, {}, options);
  }

  /** With the limits and QOS that are in force: `table.rows` lists what each row itself has. */
  associations(options?: CallOptions): Promise<readonly SlurmAssociation[]> {
    return this.#list('associations/', 'associations', (adapter) => adapter.association, {}, options);
  }

  clusters(options?: CallOptions): Promise<readonly SlurmClusterRecord[]> {
    return this.#list('clusters/', 'clusters', (adapter) => adapter.clusterRecord, {}, options);
  }

  tres(options?: CallOptions): Promise<readonly SlurmTres[]> {
    return this.#list('tres/', 'TRES', (adapter) => adapter.tres, {}, options);
  }

  jobs(query: AccountingJobQuery = {}, options?: CallOptions): Promise<readonly AccountingJob[]> {
    const seconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.floor(ms / 1000));
    const wire = {
      users: query.users?.join(','),
      account: query.accounts?.join(','),
      start_time: seconds(query.startedAfter),
      end_time: seconds(query.endedBefore),
    };
    return this.#list('jobs/', 'jobs', (adapter) => adapter.accountingJob, wire, options);
  }

  /** `undefined` if the database has no record; it arrives some seconds after the job began. */
  async job(id: number, options?: CallOptions): Promise<AccountingJob | undefined> {
    const call = { method: 'GET', service: 'slurmdb', path: `job/${id}`, ...callOptions(options) } as const;
    try {
      return await this.#endpoint.first(call, 'jobs', (adapter) => adapter.accountingJob);
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      throw error;
    }
  }

  async #list<T>(
    path: string,
    key: string,
    read: (adapter: Adapter) => (raw: unknown) => T,
    query: Readonly<Record<string, string | number | undefined>>,
    options?: CallOptions,
  ): Promise<readonly T[]> {
    const call = { method: 'GET', service: 'slurmdb', path, query, ...callOptions(options) } as const;
    return (await this.#endpoint.list(call, key, read)).items;
  }
}
