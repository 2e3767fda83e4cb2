/** What the plan and the status of a QualityOfService are made from. Reads, and changes nothing. */
import { finalizer, type QualityOfService } from '@slurm-operator/api';
import type { Cache, Live } from '@slurm-operator/kube';
import type { SlurmClient, SlurmQos } from '@slurm-operator/slurm';
import { accountings, controllers, qualitiesOfService } from '../../cache/resources.ts';
import type { AccountingRows, Rows } from '../../slurm-connection/accounting-rows.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import type { SlurmConnection } from '../../slurm-connection/slurm-connection.ts';
import { rowName } from './fields.ts';

export interface ObservedQos {
  readonly qos: Live<QualityOfService>;
  readonly isDeleted: boolean;
  readonly hasFinalizer: boolean;
  readonly accountingExists: boolean;
  /** Controllers that use the Accounting: without one there is no way to its database. */
  readonly controllers: readonly string[];
  readonly rows: Rows<SlurmQos>;
  /** An older object that declares the same row. */
  readonly conflict: string | undefined;
}

export class QosObserver {
  readonly #cache: Cache;
  readonly #pool: Pick<ConnectionPool, 'get'>;
  readonly #rows: AccountingRows;

  constructor(cache: Cache, pool: Pick<ConnectionPool, 'get'>, rows: AccountingRows) {
    this.#cache = cache;
    this.#pool = pool;
    this.#rows = rows;
  }

  async observe(qos: Live<QualityOfService>): Promise<ObservedQos> {
    const { namespace } = qos.metadata;
    const { name } = qos.spec.accountingRef;
    const client = this.clientOf(qos);
    return {
      qos,
      isDeleted: qos.metadata.deletionTimestamp !== undefined,
      hasFinalizer: qos.metadata.finalizers?.includes(finalizer.declared) ?? false,
      accountingExists: this.#cache.get(accountings, { namespace, name }) !== undefined,
      controllers: this.#controllersOf(qos),
      rows:
        client === undefined
          ? { kind: 'unknown', why: 'the operator is not connected to Slurm' }
          : await this.#rows.qos(client),
      conflict: this.#conflictOf(qos),
    };
  }

  /** Any Controller that uses the Accounting leads to its database: one whose Slurm answers, if there is one. */
  clientOf(qos: Live<QualityOfService>): SlurmClient | undefined {
    const connections = this.#controllersOf(qos).flatMap((name) => this.#connection(qos, name) ?? []);
    const answering = connections.find(({ gateway }) => gateway.view().kind === 'known');
    return (answering ?? connections[0])?.client;
  }

  /** Of every Controller that uses the Accounting; undefined: the operator is not connected to it. */
  connectionsOf(qos: Live<QualityOfService>): ReadonlyMap<string, SlurmClient | undefined> {
    return new Map(this.#controllersOf(qos).map((name) => [name, this.#connection(qos, name)?.client]));
  }

  #connection({ metadata }: Live<QualityOfService>, controller: string): SlurmConnection | undefined {
    return this.#pool.get(`${metadata.namespace}/${controller}`);
  }

  #controllersOf({ metadata: { namespace }, spec }: Live<QualityOfService>): string[] {
    return this.#cache
      .list(controllers, { namespace })
      .filter((one) => one.spec.accountingRef?.name === spec.accountingRef.name)
      .map(({ metadata }) => metadata.name)
      .toSorted();
  }

  #conflictOf(qos: Live<QualityOfService>): string | undefined {
    const sameRow = this.#cache
      .list(qualitiesOfService, { namespace: qos.metadata.namespace })
      .filter((one) => one.spec.accountingRef.name === qos.spec.accountingRef.name)
      .filter((one) => rowName(one) === rowName(qos))
      .toSorted(olderFirst);
    const [owner] = sameRow;
    return owner === undefined || owner.metadata.uid === qos.metadata.uid ? undefined : owner.metadata.name;
  }
}

/** Times of creation are whole seconds: in one second the name decides, which is the same for every look. */
const ageOf = ({ metadata }: Live): string => `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
const olderFirst = (one: Live, other: Live): number => (ageOf(one) < ageOf(other) ? -1 : 1);
