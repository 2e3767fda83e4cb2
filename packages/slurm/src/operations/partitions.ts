/** Partitions of slurmctld. */
import { errorNumber } from '../connection/answer.ts';
import type { Connection } from '../connection/connection.ts';
import { Refused } from '../errors.ts';
import { compressHostlist } from '../meaning/hostlist.ts';
import type { SlurmPartition } from '../model/cluster.ts';
import { type CallOptions, callOptions, Endpoint, type Listed, type WriteResult } from './endpoint.ts';

/** Slurm's error number for an unknown partition. */
const invalidPartition = 2000;

export class Partitions {
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
  }

  list(options?: CallOptions): Promise<Listed<SlurmPartition>> {
    const call = { method: 'GET', path: 'partitions/', ...callOptions(options) } as const;
    return this.#endpoint.list(call, 'partitions', (adapter) => adapter.partition);
  }

  async get(name: string, options?: CallOptions): Promise<SlurmPartition | undefined> {
    const call = {
      method: 'GET',
      path: `partition/${encodeURIComponent(name)}`,
      ...callOptions(options),
    } as const;
    try {
      return await this.#endpoint.first(call, 'partitions', (adapter) => adapter.partition);
    } catch (error) {
      // 24.11 reports "unknown" with an error; its number alone is also used for invalid queries.
      if (
        error instanceof Refused &&
        error.number === errorNumber.notFoundInQuery &&
        /Unable to find/.test(error.message)
      )
        return undefined;
      throw error;
    }
  }

  /** Creates a partition; from v0.0.45. It is removed by the next reconfigure unless slurm.conf has it too. */
  async create(name: string, nodes: readonly string[] | 'ALL', options?: CallOptions): Promise<WriteResult> {
    await this.#endpoint.require('writePartitions', 'creating partitions', options);
    const configured = nodes === 'ALL' ? 'ALL' : compressHostlist(nodes);
    const body = { partitions: [{ name, nodes: { configured } }] };
    const reply = await this.#endpoint.connection.ask({
      method: 'POST',
      path: 'partitions/',
      body,
      ...callOptions(options),
    });
    return this.#endpoint.accepted(reply.warnings);
  }

  /** From v0.0.45. */
  async delete(name: string, options?: CallOptions): Promise<WriteResult> {
    await this.#endpoint.require('writePartitions', 'deleting partitions', options);
    return this.#endpoint.remove(`partition/${encodeURIComponent(name)}`, invalidPartition, options);
  }
}
