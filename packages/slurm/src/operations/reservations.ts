/** Reservations of slurmctld. */
import type { Connection } from '../connection/connection.ts';
import { InvalidInput } from '../errors.ts';
import { compressHostlist } from '../meaning/hostlist.ts';
import type { ReservationWrite, SlurmReservation } from '../model/cluster.ts';
import { wireNumber } from '../wire/values.ts';
import { type CallOptions, callOptions, Endpoint, type Listed, type WriteResult } from './endpoint.ts';

/** Slurm's error number for an unknown reservation. */
const invalidReservation = 2053;

export class Reservations {
  readonly #endpoint: Endpoint;

  constructor(connection: Connection) {
    this.#endpoint = new Endpoint(connection);
  }

  list(options?: CallOptions): Promise<Listed<SlurmReservation>> {
    const call = { method: 'GET', path: 'reservations/', ...callOptions(options) } as const;
    return this.#endpoint.list(call, 'reservations', (adapter) => adapter.reservation);
  }

  get(name: string, options?: CallOptions): Promise<SlurmReservation | undefined> {
    const call = {
      method: 'GET',
      path: `reservation/${encodeURIComponent(name)}`,
      ...callOptions(options),
    } as const;
    return this.#endpoint.first(call, 'reservations', (adapter) => adapter.reservation);
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
  delete(name: string, options?: CallOptions): Promise<WriteResult> {
    return this.#endpoint.remove(`reservation/${encodeURIComponent(name)}`, invalidReservation, options);
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
