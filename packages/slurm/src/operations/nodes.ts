import type { Adapter } from '../adapters/adapter.ts';
import { errorNumber } from '../connection/answer.ts';
import type { Connection } from '../connection/connection.ts';
import { InvalidInput, Refused, SlurmError, Unavailable } from '../errors.ts';
import { compressHostlist } from '../meaning/hostlist.ts';
import { cleanReason } from '../meaning/reason.ts';
import type { NodeUpdate, SlurmNode } from '../model/node.ts';
import type { ListMemory } from '../wire/list-memory.ts';
import { wireNumber } from '../wire/values.ts';
import {
  type CallOptions,
  callOptions,
  Endpoint,
  type Listed,
  type ListedSince,
  type WriteResult,
} from './endpoint.ts';

export interface NodeListOptions extends CallOptions {
  /** Nodes whose bytes equal those of the last list with this memory are not parsed: the same objects are returned. */
  readonly memory?: ListMemory<SlurmNode>;
}

/** Some nodes, and when they were requested: each is shown as it was at that moment or later. */
export interface CurrentNodes {
  readonly beganAt: number;
  readonly nodes: readonly SlurmNode[];
}

const aYear = 366 * 86_400;
const parallelReads = 4;

const nodeReader = (adapter: Adapter) => adapter.node;

/**
 * Nodes. Only a list has current allocations: `get` returns what slurmctld computed for the last list of any client,
 * and may report an idle node as busy, or a busy one as idle, until the next list. `current` makes slurmctld compute them first.
 */
export class Nodes {
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
  }

  list(options?: NodeListOptions): Promise<Listed<SlurmNode>> {
    const call = { method: 'GET', path: 'nodes/', ...callOptions(options) } as const;
    return this.#endpoint.list(call, 'nodes', nodeReader, options?.memory);
  }

  /**
   * The list if anything changed since `updateTime` (of an earlier list). All or nothing: after one change all nodes are returned.
   * Slurm 24.11 responds with 500 if nodes changed and partitions did not; that means "changed" and is listed in full.
   */
  async listSince(updateTime: number, options?: NodeListOptions): Promise<ListedSince<SlurmNode>> {
    const adapter = await this.#endpoint.adapter(options);
    if (adapter.abilities.updateTime) {
      try {
        return await this.#endpoint.listUnlessUnchanged(
          {
            method: 'GET',
            path: 'nodes/',
            query: { update_time: updateTime },
            isAnswer: isPartitionsBug,
            ...callOptions(options),
          },
          'nodes',
          nodeReader,
          options?.memory,
        );
      } catch (error) {
        if (!isPartitionsBug(error)) throw error;
      }
    }
    return { changed: true, ...(await this.list(options)) };
  }

  /** One node; `undefined` if Slurm reported that it does not exist. Allocations are stale: see above. */
  get(name: string, options?: CallOptions): Promise<SlurmNode | undefined> {
    const path = `node/${encodeURIComponent(checkName(name))}`;
    return this.#endpoint.first(
      { method: 'GET', path, ...callOptions(options) },
      'nodes',
      (adapter) => adapter.node,
    );
  }

  /**
   * A few nodes as a list of this moment would show them, without the cost of the list: for each list slurmctld computes all allocations
   * before it compares `update_time`, so a list that asks for changes in the future returns nothing and makes `get` current
   * (slurmctld's `_slurm_rpc_dump_nodes`; tried on 24.11 and 26.05). A server that returns a list after all is believed. Nodes that do not
   * exist are left out.
   */
  async current(names: readonly string[], options?: CallOptions): Promise<CurrentNodes> {
    const future = Math.floor(this.#endpoint.connection.now() / 1000) + aYear;
    const listed = await this.listSince(future, options);
    const { beganAt } = listed;
    if (listed.changed) {
      const wanted = new Set(names);
      return { beganAt, nodes: listed.items.filter(({ name }) => wanted.has(name)) };
    }
    const nodes: SlurmNode[] = [];
    const waiting = [...names];
    const worker = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const node = await this.get(name, options);
        if (node !== undefined) nodes.push(node);
      }
    };
    await Promise.all(Array.from({ length: parallelReads }, worker));
    return { beganAt, nodes };
  }

  /**
   * Changes one node, or many at once. Not atomic: a refused update may have written the fields before the refused one,
   * and a refused list of nodes may have changed some of them. Slurm stops at the first node of a list that it does not
   * know; the others are then changed one by one, so that a missing node never prevents the drain of others.
   */
  async update(
    names: string | readonly string[],
    update: NodeUpdate,
    options?: CallOptions,
  ): Promise<WriteResult> {
    const list = typeof names === 'string' ? [names] : names;
    if (list.length === 0) return this.#endpoint.accepted();
    if (update.topology !== undefined)
      await this.#endpoint.require('nodeTopology', "changing a node's topology", options);
    const [only] = list;
    const one = list.length === 1 && only !== undefined;
    const path = one ? `node/${encodeURIComponent(checkName(only))}` : 'nodes/';
    const body = {
      ...(!one && { name: [compressHostlist(list.map(checkName))] }),
      ...wireUpdate(update),
    };
    const call = { method: 'POST', path, body, idempotent: true, ...callOptions(options) } as const;
    const result = await this.#endpoint.write(call, 'everywhere');
    return one || result.outcome === 'accepted' ? result : this.#updateEach(list, update, options);
  }

  /** Drains nodes. Resolves when slurmctld accepted it: running jobs continue, and only a later list shows when they have ended. */
  drain(names: string | readonly string[], reason: string, options?: CallOptions): Promise<WriteResult> {
    return this.update(names, { state: 'DRAIN', reason: required(reason) }, options);
  }

  /** Ends a drain. Has no effect on a node that is not drained (unlike RESUME). */
  undrain(names: string | readonly string[], options?: CallOptions): Promise<WriteResult> {
    return this.update(names, { state: 'UNDRAIN' }, options);
  }

  /** Sets nodes DOWN: their jobs are killed or requeued at once. */
  down(names: string | readonly string[], reason: string, options?: CallOptions): Promise<WriteResult> {
    return this.update(names, { state: 'DOWN', reason: required(reason) }, options);
  }

  /** Resumes a DOWN, drained or failed node. Slurm refuses it for a healthy one; that counts as done. */
  async resume(names: string | readonly string[], options?: CallOptions): Promise<WriteResult> {
    try {
      return await this.update(names, { state: 'RESUME' }, options);
    } catch (error) {
      // 2180 in 26.05, 2028 in 24.11: invalid transition from the current state.
      if (!(error instanceof Refused) || (error.number !== 2180 && error.number !== 2028)) throw error;
      const list = typeof names === 'string' ? [names] : names;
      if (list.length > 1) throw error;
      return this.#endpoint.accepted([error.message]);
    }
  }

  /** Deletes a dynamic node. Refused (2016) while jobs run on it. Its slurmd does not register again automatically. */
  delete(name: string, options?: CallOptions): Promise<WriteResult> {
    const path = `node/${encodeURIComponent(checkName(name))}`;
    const call = { method: 'DELETE', path, idempotent: true, ...callOptions(options) } as const;
    return this.#endpoint.write(call, 'everywhere');
  }

  /** Creates nodes from a line of slurm.conf (`NodeName=c[1-4] CPUs=8 State=CLOUD`); from v0.0.44. */
  async create(configuration: string, options?: CallOptions): Promise<WriteResult> {
    await this.#endpoint.require('createNodes', 'creating nodes', options);
    if (/[\r\n]/.test(configuration) || !/^NodeName=\S/.test(configuration))
      throw new InvalidInput('the configuration of a new node must be one line that begins with NodeName=');
    const body = { node_conf: configuration };
    const reply = await this.#endpoint.connection.ask({
      method: 'POST',
      path: 'new/node/',
      body,
      ...callOptions(options),
    });
    return this.#endpoint.accepted(reply.warnings);
  }

  async #updateEach(
    names: readonly string[],
    update: NodeUpdate,
    options?: CallOptions,
  ): Promise<WriteResult> {
    const results: WriteResult[] = [];
    for (const name of names) results.push(await this.update(name, update, options));
    const outcome = results.some((result) => result.outcome === 'accepted') ? 'accepted' : 'gone';
    const warnings = names
      .filter((_, index) => results[index]?.outcome === 'gone')
      .map((name) => `Slurm has no node ${name}`);
    return { outcome, at: this.#endpoint.connection.now(), warnings };
  }
}

/** Whether Slurm refused a delete because jobs run on the node. */
export function isNodeBusyError(error: unknown): boolean {
  return error instanceof SlurmError && error.number === errorNumber.nodesBusy;
}

/** Slurm 24.11: 500 with -1 "Unable to query partitions" (or "nodes") to a list with update_time. */
function isPartitionsBug(error: unknown): boolean {
  return error instanceof Unavailable && error.status === 500 && error.number === errorNumber.unspecified;
}

function wireUpdate(update: NodeUpdate): Record<string, unknown> {
  return {
    ...(update.state !== undefined && { state: [update.state] }),
    ...(update.reason !== undefined && { reason: cleanReason(update.reason) }),
    ...(update.comment !== undefined && { comment: update.comment }),
    ...(update.extra !== undefined && { extra: update.extra }),
    ...(update.features !== undefined && { features: update.features }),
    ...(update.activeFeatures !== undefined && { features_act: update.activeFeatures }),
    ...(update.topology !== undefined && { topology_str: update.topology }),
    ...(update.gres !== undefined && { gres: update.gres }),
    ...(update.weight !== undefined && { weight: wireNumber(update.weight) }),
    ...(update.resumeAfterSeconds !== undefined && { resume_after: wireNumber(update.resumeAfterSeconds) }),
  };
}

function required(reason: string): string {
  const clean = cleanReason(reason);
  if (clean === '')
    throw new InvalidInput('give a reason: an administrator will ask why this node is out of service');
  return clean;
}

/** Slurm parses brackets and commas in a path as a list and responds "unknown": refuse them here. */
function checkName(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    throw new InvalidInput(
      `"${name}" is not the name of one node; expand hostlists with expandHostlist first`,
    );
  return name;
}
