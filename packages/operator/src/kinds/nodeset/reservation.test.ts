/** A reservation is noted before it is made, so that a crash between the two writes leaks none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { ReservationWrite } from '@slurm-operator/slurm';
import type { Verdict } from '../../framework/status/judge.ts';
import type { SlurmGateway } from '../../slurm-connection/slurm-gateway.ts';
import { syncReservation } from './reservation.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

function stage() {
  const reservations = new Map<string, ReservationWrite>();
  const conditions = new Map<string, Verdict>();
  let refuses = false;
  const gateway = {
    reservation: async (name: string) => {
      const found = reservations.get(name);
      return (
        found && { name, nodes: found.nodes?.join(',') ?? '', startsAt: found.startsAt, endsAt: undefined }
      );
    },
    writeReservation: async (reservation: ReservationWrite) =>
      void reservations.set(reservation.name ?? '', reservation),
    deleteReservation: async (name: string) => {
      if (refuses) throw new Error('DELETE is not supported by this Slurm');
      reservations.delete(name);
    },
  } as unknown as SlurmGateway;
  const nodeSet = (type: 'ScheduledUpdate' | 'RollingUpdate') =>
    ({
      metadata: { name: 'w', namespace: 'slurm' },
      spec: {
        replicas: 1,
        scalingMode: 'StatefulSet',
        updateStrategy: { type, scheduledUpdate: { startTime: '2026-01-01T01:00:00Z', duration: '1h' } },
      },
      status: { conditions: [...conditions.values()] },
    }) as unknown as NodeSet;
  const note = async (verdict: Verdict) => void conditions.set(verdict.type, verdict);
  const sync = async (type: 'ScheduledUpdate' | 'RollingUpdate') => {
    const verdict = await syncReservation(
      nodeSet(type),
      ['w-0'],
      gateway,
      now,
      note,
      AbortSignal.timeout(5_000),
    );
    if (verdict !== undefined) await note(verdict);
  };
  /** The operator ends after the reservation was made and before it writes its status. */
  const crash = () =>
    syncReservation(nodeSet('ScheduledUpdate'), ['w-0'], gateway, now, note, AbortSignal.timeout(5_000));
  const refuseDeletes = () => {
    refuses = true;
  };
  return { reservations, conditions, refuseDeletes, sync, crash };
}

test('a reservation whose operator crashed is removed when nobody wants it any more', async () => {
  const { reservations, sync, crash } = stage();
  await crash();
  assert.equal(reservations.size, 1);
  await sync('RollingUpdate');
  assert.equal(reservations.size, 0);
});

test('a reservation that was noted and that Slurm does not have is not deleted there', async () => {
  const { conditions, refuseDeletes, reservations, sync, crash } = stage();
  await crash();
  reservations.clear();
  refuseDeletes();
  await sync('RollingUpdate');
  assert.deepEqual(
    [...conditions.values()].map(({ reason }) => reason),
    ['NotExists'],
  );
});

test('one that is still wanted is taken over', async () => {
  const { reservations, conditions, sync, crash } = stage();
  await crash();
  await sync('ScheduledUpdate');
  assert.equal(reservations.size, 1);
  assert.deepEqual(
    [...conditions.values()].map(({ reason }) => reason),
    ['Created'],
  );
});

test('a crash before it was made costs nothing: it is made then', async () => {
  const { reservations, sync, crash } = stage();
  await crash();
  reservations.clear();
  await sync('ScheduledUpdate');
  assert.equal(reservations.size, 1);
});
