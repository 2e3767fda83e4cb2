/** Qualities of service in the accounting database: read whole, written whole. */
import { limitsMissingIn41, writeQos } from '../adapters/qos-wire.ts';
import type { Connection } from '../connection/connection.ts';
import { NotSupported } from '../errors.ts';
import { emptyQos, type SlurmQos, type TresCounts } from '../model/qos.ts';
import {
  checkAccountingName,
  checkTracked,
  emptyListPlaceholder,
  type ListTres,
} from './accounting-names.ts';
import { type CallOptions, callOptions, Endpoint, type WriteResult } from './endpoint.ts';

/**
 * No request empties a preempt list, and an empty name in it ends slurmrestd. But in 26.05 a QOS that is deleted leaves every
 * preempt list. So a list is emptied by way of a QOS of this name, which exists for that moment only.
 * In 24.11 the deleted QOS stays in the list without a name, and from then on no list of QOS can be read by REST.
 */
const placeholder = 'no-preemption-placeholder';

export class QosTable {
  readonly #endpoint: Endpoint;
  readonly #listTres: ListTres;

  /** `listTres` tells what Slurm tracks, and so what a QOS can limit. */
  constructor(connection: Connection, listTres: ListTres) {
    this.#endpoint = new Endpoint(connection);
    this.#listTres = listTres;
  }

  async list(options?: CallOptions): Promise<readonly SlurmQos[]> {
    const call = { method: 'GET', service: 'slurmdb', path: 'qos/', ...callOptions(options) } as const;
    const { items } = await this.#endpoint.list(call, 'qos', (adapter) => adapter.qos);
    return items.filter(({ name }) => name !== placeholder && name !== emptyListPlaceholder);
  }

  /**
   * Makes each of these rows exactly what is given, and creates those that do not exist; others stay as they are. Safe to repeat
   * after a failure at any point. Two writers of one row overwrite each other: Slurm has no conditional writes.
   */
  async write(desired: readonly SlurmQos[], options?: CallOptions): Promise<WriteResult> {
    checkNames(desired);
    return this.#write(desired, await this.#byName(options), options);
  }

  /**
   * Reads one row, changes it and writes it whole: what others changed in the meantime stays. `change` gets undefined if there is no
   * such row; what it throws is thrown, and nothing is written.
   */
  async edit(
    name: string,
    change: (current: SlurmQos | undefined) => SlurmQos,
    options?: CallOptions,
  ): Promise<WriteResult> {
    checkAccountingName('QOS', name);
    const current = await this.#byName(options);
    const desired = [{ ...change(current.get(name)), name }];
    checkNames(desired);
    return this.#write(desired, current, options);
  }

  /**
   * The same for many rows in one request. `current` is a list that the caller has just read, by name: what others changed since is
   * overwritten.
   */
  async change(
    desired: readonly SlurmQos[],
    current: ReadonlyMap<string, SlurmQos>,
    options?: CallOptions,
  ): Promise<WriteResult> {
    checkNames(desired);
    return this.#write(desired, current, options);
  }

  async #byName(options?: CallOptions): Promise<ReadonlyMap<string, SlurmQos>> {
    return new Map((await this.list(options)).map((qos) => [qos.name, qos]));
  }

  async #write(
    desired: readonly SlurmQos[],
    current: ReadonlyMap<string, SlurmQos>,
    options?: CallOptions,
  ): Promise<WriteResult> {
    await this.#checkSupport(desired, options);
    await this.#checkTres(desired, options);
    await this.#createPreempted(desired, current, options);
    const emptied = desired.filter(
      (qos) => qos.preempts.length === 0 && (current.get(qos.name)?.preempts.length ?? 0) > 0,
    );
    if (emptied.length > 0) await this.#createPlaceholder(emptied, options);
    const rows = desired.map((qos) =>
      writeQos(emptied.includes(qos) ? { ...qos, preempts: [placeholder] } : qos, current.get(qos.name)),
    );
    const result = await this.#post(rows, options);
    if (emptied.length > 0) await this.#delete(placeholder, options);
    return result;
  }

  /** Slurm refuses while an association uses it (`Refused`). */
  async delete(name: string, options?: CallOptions): Promise<WriteResult> {
    checkAccountingName('QOS', name);
    const { abilities } = await this.#endpoint.adapter(options);
    if (!abilities.emptyPreemptLists) {
      const preempting = (await this.list(options)).filter(({ preempts }) => preempts.includes(name));
      if (preempting.length > 0)
        throw new NotSupported(
          `QOS ${name} cannot be deleted while ${preempting.map((qos) => qos.name).join(', ')} may preempt it: this Slurm keeps a deleted QOS in the list. Remove it there first`,
        );
    }
    return this.#delete(name, options);
  }

  async #createPlaceholder(emptied: readonly SlurmQos[], options?: CallOptions): Promise<void> {
    const { abilities } = await this.#endpoint.adapter(options);
    const names = emptied.map(({ name }) => name).join(',');
    if (!abilities.emptyPreemptLists)
      throw new NotSupported(
        `this Slurm cannot empty the preempt list of QOS ${names} by REST: run sacctmgr -i modify qos ${names} set preempt=`,
      );
    await this.#post([{ name: placeholder }], options);
  }

  /** A list of preempted QOS must name existing ones, also within one request. */
  async #createPreempted(
    desired: readonly SlurmQos[],
    current: ReadonlyMap<string, SlurmQos>,
    options?: CallOptions,
  ): Promise<void> {
    const preempted = new Set(desired.flatMap(({ preempts }) => preempts));
    const missing = desired.filter(({ name }) => preempted.has(name) && !current.has(name));
    if (missing.length > 0)
      await this.#post(
        missing.map(({ name }) => writeQos(emptyQos(name), undefined)),
        options,
      );
  }

  async #checkSupport(desired: readonly SlurmQos[], options?: CallOptions): Promise<void> {
    const { version } = await this.#endpoint.adapter(options);
    if (version !== 'v0.0.41') return;
    for (const qos of desired) {
      const [missing] = limitsMissingIn41(qos);
      if (missing !== undefined)
        throw new NotSupported(
          `limit ${missing} of QOS ${qos.name} cannot be written with REST API ${version}`,
        );
    }
  }

  #checkTres(desired: readonly SlurmQos[], options?: CallOptions): Promise<void> {
    const used = desired.flatMap((qos) => tresOf(qos).map((tres) => [tres, `QOS ${qos.name}`] as const));
    return checkTracked(new Map(used), this.#listTres, options);
  }

  async #post(qos: readonly object[], options?: CallOptions): Promise<WriteResult> {
    const { warnings } = await this.#endpoint.connection.ask({
      method: 'POST',
      service: 'slurmdb',
      path: 'qos/',
      body: { qos },
      idempotent: true,
      ...callOptions(options),
    });
    return this.#endpoint.accepted(warnings);
  }

  #delete(name: string, options?: CallOptions): Promise<WriteResult> {
    const path = `qos/${encodeURIComponent(name)}`;
    return this.#endpoint.write({
      method: 'DELETE',
      service: 'slurmdb',
      path,
      idempotent: true,
      ...callOptions(options),
    });
  }
}

function checkNames(desired: readonly SlurmQos[]): void {
  for (const { name, preempts } of desired) {
    checkAccountingName('QOS', name);
    for (const other of preempts) checkAccountingName('QOS', other);
  }
}

function tresOf({ limits }: SlurmQos): readonly string[] {
  const { group, perUser, perAccount, perJob } = limits;
  const counts: readonly TresCounts[] = [
    ...[group, perUser, perAccount].flatMap(({ tres, tresRunMinutes }) => [tres, tresRunMinutes]),
    group.tresMinutes,
    perJob.tres,
    perJob.tresPerNode,
    perJob.tresMinutes,
    perJob.minTres,
  ];
  return [...new Set(counts.flatMap((tres) => Object.keys(tres)))];
}
