/** Common code of the operations: lists, single objects, and writes for which a missing object counts as done. */
import type { Adapter } from '../adapters/adapter.ts';
import { adapters } from '../adapters/versions.ts';
import type { Envelope } from '../connection/answer.ts';
import type { Call, Connection } from '../connection/connection.ts';
import { NotFound, NotSupported, ProtocolError, Refused } from '../errors.ts';
import { type ListMemory, ListReading } from '../wire/list-memory.ts';
import { timeOf, type WireNumber } from '../wire/values.ts';

/** A complete list, and when it was requested: it reflects that moment or a later one. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly beganAt: number;
  /** Slurm's `last_update` in whole seconds: what a later list sends as `update_time`. */
  readonly updateTime: number | undefined;
  readonly bytes: number;
  readonly warnings: readonly string[];
}

/** The result of a list with `update_time`. */
export type ListedSince<T> =
  | ({ readonly changed: true } & Listed<T>)
  | { readonly changed: false; readonly beganAt: number };

export class Endpoint {
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  async adapter(options?: CallOptions): Promise<Adapter> {
    return adapters[await this.connection.version(options)];
  }

  /** Reads a list, element by element while it arrives. A response without the list is an error, not an empty list. */
  async list<T>(
    call: Call,
    key: string,
    read: (adapter: Adapter) => (raw: unknown) => T,
    memory?: ListMemory<T>,
  ): Promise<Listed<T>> {
    const listed = await this.listUnlessUnchanged(call, key, read, memory);
    if (!listed.changed) throw missing(call, key);
    return listed;
  }

  /** The same for a list with `update_time`, to which Slurm may respond "unchanged". */
  async listUnlessUnchanged<T>(
    call: Call,
    key: string,
    read: (adapter: Adapter) => (raw: unknown) => T,
    memory?: ListMemory<T>,
  ): Promise<ListedSince<T>> {
    const list = new ListReading(key, read(await this.adapter(call)), memory);
    const outcome = await this.connection.send({ ...call, list });
    if (outcome.kind === 'unchanged') return { changed: false, beganAt: outcome.beganAt };
    const { envelope, beganAt, bytes, warnings } = await this.connection.replyOf(outcome, call);
    if (!Array.isArray(envelope[key])) throw missing(call, key);
    return {
      changed: true,
      items: list.finish(),
      beganAt,
      updateTime: lastUpdate(envelope),
      bytes,
      warnings,
    };
  }

  /** The first element of a list with at most one; `undefined` if Slurm reports that there is none. */
  async first<T>(
    call: Call,
    key: string,
    read: (adapter: Adapter) => (raw: unknown) => T,
  ): Promise<T | undefined> {
    const reply = await this.connection.ask(call);
    const found = reply.envelope[key];
    if (found !== undefined && !Array.isArray(found)) throw missing(call, key);
    const [raw] = (found ?? []) as unknown[];
    if (raw !== undefined) return read(await this.adapter(call))(raw);
    // An empty response means "none" only if slurmrestd reports it in errors, warnings or an empty list.
    const { errors = [], warnings = [] } = reply.envelope;
    if (found === undefined && errors.length === 0 && warnings.length === 0) throw missing(call, key);
    return undefined;
  }

  /**
   * A write whose object may not exist: then it counts as done. `everywhere`: every API version has this
   * path, so a 404 without a body is about the object, if the server responds in this version at all.
   */
  async write(call: Call, path: 'everywhere' | 'somewhere' = 'somewhere'): Promise<WriteResult> {
    const outcome = await this.connection.send(call);
    switch (outcome.kind) {
      case 'good':
        return this.accepted(outcome.warnings);
      case 'empty':
        return this.accepted();
      case 'unchanged': // the response of slurmdb to the deletion of an unknown object
        return { ...this.accepted(), outcome: 'gone' };
      case 'no-such-path':
        if (path === 'somewhere') throw await this.connection.notSupported(call);
        await this.connection.ask({ method: 'GET', path: 'ping/', ...callOptions(call) });
        return { ...this.accepted(), outcome: 'gone' };
      case 'bad':
        if (outcome.error instanceof NotFound || outcome.error.status === 404)
          return { ...this.accepted(), outcome: 'gone' };
        throw outcome.error;
    }
  }

  /** Deletes by name. `unknown`: Slurm's error number for an unknown object, which counts as done. */
  async remove(path: string, unknown: number, options?: CallOptions): Promise<WriteResult> {
    try {
      return await this.write({ method: 'DELETE', path, idempotent: true, ...callOptions(options) });
    } catch (error) {
      if (error instanceof Refused && error.number === unknown)
        return { ...this.accepted(), outcome: 'gone' };
      throw error;
    }
  }

  accepted(warnings: readonly string[] = []): WriteResult {
    return { outcome: 'accepted', at: this.connection.now(), warnings };
  }

  /** Throws NotSupported unless the API version in use has the ability. */
  async require(ability: keyof Adapter['abilities'], what: string, options?: CallOptions): Promise<void> {
    const adapter = await this.adapter(options);
    if (adapter.abilities[ability]) return;
    const { release } = this.connection.about;
    throw new NotSupported(
      `${what} is not supported by this Slurm (${release ?? 'release unknown'}, REST API ${adapter.version})`,
    );
  }
}

function lastUpdate(envelope: Envelope): number | undefined {
  const at = timeOf(envelope['last_update'] as WireNumber | undefined);
  return at === undefined ? undefined : at / 1000;
}

function missing(call: Call, key: string): ProtocolError {
  return new ProtocolError(`${call.method} ${call.path}: the answer has no list "${key}"`);
}

/** Options of every operation. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Deadline of this call. */
  readonly timeoutMs?: number;
}

/** The result of a write. `gone`: the object does not exist, so there is nothing to do. */
export interface WriteResult {
  readonly outcome: 'accepted' | 'gone';
  /** When the response arrived, on the client's clock: a list that began after it shows the effect. */
  readonly at: number;
  /** Slurm's warnings, such as ignored fields. */
  readonly warnings: readonly string[];
}

/** Only the options that are set, to spread into a call. */
export function callOptions(options: CallOptions | undefined): CallOptions {
  return {
    ...(options?.signal && { signal: options.signal }),
    ...(options?.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  };
}
