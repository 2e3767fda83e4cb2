import type { Connection } from '../connection.ts';
import { InvalidInput, NotFound, Refused, Unauthenticated, Unavailable } from '../errors.ts';
import { compressHostlist } from '../hostlist.ts';
import type {
  ControllerPing,
  ReservationWrite,
  SlurmDiag,
  SlurmLicense,
  SlurmPartition,
  SlurmReservation,
} from '../model/cluster.ts';
import { wireNumber } from '../wire/values.ts';
import { type CallOptions, callOptions, type WriteResult } from './call-options.ts';
import { Endpoint, type Listed } from './endpoint.ts';

/** slurmctld as a whole: is it there, how is it, read your configuration again. */
export class Controller {
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
  }

  /** One entry per configured slurmctld. `responding: false` is also what a bad token gets: see `check`. */
  async ping(options?: CallOptions): Promise<readonly ControllerPing[]> {
    const call = { method: 'GET', path: 'ping/', ...callOptions(options) } as const;
    return (await this.#endpoint.list(call, 'pings', (adapter) => adapter.ping)).items;
  }

  /**
   * Resolves when slurmctld answers and accepts the token. Throws Unauthenticated or Unavailable otherwise, told apart by
   * a question that needs the token (ping alone says 200 to both).
   */
  async check(options?: CallOptions): Promise<readonly ControllerPing[]> {
    const pings = await this.ping(options);
    if (pings.some((ping) => ping.responding)) return pings;
    const hosts = pings.map((ping) => ping.hostname).join(', ') || 'none is configured';
    const said = pings.map((ping) => ping.status).find((status) => status !== undefined);
    if (said?.includes('authentication'))
      throw new Unauthenticated(`Slurm does not accept the token: ${said}`, { text: said, status: 200 });
    if (said === undefined) await this.#needsToken(options);
    throw new Unavailable(`no slurmctld responds (${hosts}): ${said ?? 'no reason given'}`, { status: 200 });
  }

  async diag(options?: CallOptions): Promise<SlurmDiag> {
    const { envelope } = await this.#endpoint.connection.ask({
      method: 'GET',
      path: 'diag/',
      ...callOptions(options),
    });
    return (await this.#endpoint.adapter(options)).diag(envelope['statistics']);
  }

  /**
   * Makes slurmctld read its configuration again. A 200 does not say that the new one is good: a slurmctld that cannot
   * use it dies, or goes on with the old one. Check the file first, and the daemon afterwards.
   */
  async reconfigure(options?: CallOptions): Promise<WriteResult> {
    const call = { method: 'GET', path: 'reconfigure/', idempotent: false, ...callOptions(options) } as const;
    return this.#endpoint.accepted((await this.#endpoint.connection.ask(call)).warnings);
  }

  /** Before v0.0.45 ping does not say why; a question that needs the token does, if slurmctld is there at all. */
  async #needsToken(options?: CallOptions): Promise<void> {
    try {
      await this.licenses({ timeoutMs: 3000, ...options });
    } catch (error) {
      if (error instanceof Unauthenticated) throw error;
    }
  }

  async licenses(options?: CallOptions): Promise<readonly SlurmLicense[]> {
    const call = { method: 'GET', path: 'licenses/', ...callOptions(options) } as const;
    return (await this.#endpoint.list(call, 'licenses', (adapter) => adapter.license)).items;
  }
}

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
    return orUndefined(
      this.#endpoint.first(call, 'partitions', (adapter) => adapter.partition),
      /find partition/,
    );
  }

  /** Creates a partition; from v0.0.45. It is gone after the next reconfigure unless slurm.conf has it too. */
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
    const path = `partition/${encodeURIComponent(name)}`;
    try {
      return await this.#endpoint.write({
        method: 'DELETE',
        path,
        idempotent: true,
        ...callOptions(options),
      });
    } catch (error) {
      if (error instanceof Refused && error.number === invalidPartition)
        return { ...this.#endpoint.accepted(), outcome: 'gone' };
      throw error;
    }
  }
}

export class Reservations {
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
  }

  list(options?: CallOptions): Promise<Listed<SlurmReservation>> {
    const call = { method: 'GET', path: 'reservations/', ...callOptions(options) } as const;
    return this.#endpoint.list(call, 'reservations', (adapter) => adapter.reservation);
  }

  async get(name: string, options?: CallOptions): Promise<SlurmReservation | undefined> {
    const call = {
      method: 'GET',
      path: `reservation/${encodeURIComponent(name)}`,
      ...callOptions(options),
    } as const;
    return orUndefined(
      this.#endpoint.first(call, 'reservations', (adapter) => adapter.reservation),
      /reservation/i,
    );
  }

  /** Creates a reservation, or changes the one of that name; from v0.0.43. Returns its name. */
  async write(reservation: ReservationWrite, options?: CallOptions): Promise<string> {
    await this.#endpoint.require('writeReservations', 'writing reservations', options);
    if (
      reservation.endsAt === undefined &&
      reservation.durationMinutes === undefined &&
      reservation.name === undefined
    )
      throw new InvalidInput('a reservation needs an end: give endsAt or durationMinutes');
    const call = {
      method: 'POST',
      path: 'reservation',
      body: wireReservation(reservation),
      ...callOptions(options),
    } as const;
    const { envelope } = await this.#endpoint.connection.ask(call);
    const name = envelope['reservation_name'];
    return typeof name === 'string' && name !== '' ? name : (reservation.name ?? '');
  }

  /** Slurm 24.11 has no such endpoint. */
  async delete(name: string, options?: CallOptions): Promise<WriteResult> {
    const path = `reservation/${encodeURIComponent(name)}`;
    try {
      return await this.#endpoint.write({
        method: 'DELETE',
        path,
        idempotent: true,
        ...callOptions(options),
      });
    } catch (error) {
      if (error instanceof Refused && error.number === invalidReservation)
        return { ...this.#endpoint.accepted(), outcome: 'gone' };
      throw error;
    }
  }
}

/** What Slurm says of a partition and of a reservation that it does not have. */
const invalidPartition = 2000;
const invalidReservation = 2053;

/** Older Slurm says "unknown" with an error; that is an answer all the same. */
async function orUndefined<T>(answer: Promise<T | undefined>, unknown: RegExp): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NotFound || (error instanceof Refused && unknown.test(error.message)))
      return undefined;
    throw error;
  }
}

function wireReservation(reservation: ReservationWrite): Record<string, unknown> {
  const seconds = (ms: number) => wireNumber(Math.floor(ms / 1000));
  return {
    ...(reservation.name !== undefined && { name: reservation.name }),
    ...(reservation.startsAt !== undefined && { start_time: seconds(reservation.startsAt) }),
    ...(reservation.endsAt !== undefined && { end_time: seconds(reservation.endsAt) }),
    ...(reservation.durationMinutes !== undefined && { duration: wireNumber(reservation.durationMinutes) }),
    ...(reservation.nodes !== undefined && { node_list: [compressHostlist(reservation.nodes)] }),
    ...(reservation.nodeCount !== undefined && { node_count: wireNumber(reservation.nodeCount) }),
    ...(reservation.partition !== undefined && { partition: reservation.partition }),
    ...(reservation.users !== undefined && { users: reservation.users }),
    ...(reservation.accounts !== undefined && { accounts: reservation.accounts }),
    ...(reservation.flags !== undefined && { flags: reservation.flags }),
    ...(reservation.comment !== undefined && { comment: reservation.comment }),
  };
}
