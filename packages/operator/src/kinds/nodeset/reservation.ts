/** Brings the Slurm reservation of a ScheduledUpdate to where it should be. Asks Slurm only when there is, or was, one. */

import { conditionType, type NodeSet, resourceName } from '@slurm-operator/api';
import { durationMilliseconds } from '@slurm-operator/kubernetes-values';
import { expandHostlist } from '@slurm-operator/slurm';
import type { Verdict } from '../../framework/status/judge.ts';
import type { SlurmGateway } from '../../slurm-connection/slurm-gateway.ts';
import { type MadeWindow, planReservation, type Window } from './plan/reservation.ts';

const ownFlags = ['MAINT', 'IGNORE_JOBS'];

/** The window that the NodeSet asks for; undefined when it asks for none. */
export function wantedWindow(nodeSet: NodeSet): Window | undefined {
  const { updateStrategy, replicas, scalingMode } = nodeSet.spec;
  const { type, scheduledUpdate } = updateStrategy;
  const idle = scalingMode === 'StatefulSet' && replicas === 0;
  if (
    type !== 'ScheduledUpdate' ||
    scheduledUpdate === undefined ||
    idle ||
    nodeSet.metadata.deletionTimestamp !== undefined
  )
    return undefined;
  const startsAt = Date.parse(scheduledUpdate.startTime ?? '');
  if (Number.isNaN(startsAt)) return undefined;
  const flags = [
    ...new Set([...ownFlags, ...(scheduledUpdate.flags ?? []).map((flag) => flag.toUpperCase())]),
  ];
  return {
    name: resourceName.reservation(nodeSet.metadata.name),
    startsAt,
    minutes: goMinutes(scheduledUpdate.duration),
    flags,
  };
}

/** What the status remembers of the window that was made last, or was about to be. */
export function madeWindow(nodeSet: NodeSet): MadeWindow | undefined {
  const condition = nodeSet.status?.conditions?.find(
    (each) => each.type === conditionType.reservationCreated,
  );
  const match = /^Reservation (\S+) starts at (\S+?)\.?$/.exec(condition?.message ?? '');
  if (match === null || condition?.status === 'False') return undefined;
  return {
    name: match[1] ?? '',
    startsAt: Date.parse(match[2] ?? ''),
    certain: condition?.status === 'True',
  };
}

/** The condition of a NodeSet that asks for no reservation and has none: its status must not depend on what it once asked for. */
export function withdrawnReservation(nodeSet: NodeSet): string[] {
  return wantedWindow(nodeSet) === undefined && madeWindow(nodeSet) === undefined
    ? [conditionType.reservationCreated]
    : [];
}

/**
 * Returns the condition to show, or undefined when reservations play no part. Slurm keeps nothing of ours with a reservation, so that one
 * is about to be made is noted first: after a crash between the two writes it is found, and removed where nobody wants it.
 */
export async function syncReservation(
  nodeSet: NodeSet,
  nodes: readonly string[],
  gateway: SlurmGateway | undefined,
  now: number,
  note: (intent: Verdict) => Promise<void>,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  const wanted = wantedWindow(nodeSet);
  const made = madeWindow(nodeSet);
  if (wanted === undefined && made === undefined) return undefined;
  if (gateway === undefined) return made?.certain ? created(made) : made && aboutToCreate(made);
  const found = await gateway.reservation((wanted ?? made)?.name ?? '', signal);
  const live = found && {
    name: found.name,
    startsAt: found.startsAt,
    endsAt: found.endsAt,
    nodes: new Set(expandHostlist(found.nodes)),
  };
  const step = planReservation({ wanted, live, made, nodes }, now);
  switch (step.kind) {
    case 'delete':
      // Slurm 24.11 can neither make nor delete one over REST: what it does not have must not fail every reconcile.
      if (live !== undefined) await gateway.deleteReservation(step.name, signal);
      return {
        type: conditionType.reservationCreated,
        status: 'False',
        reason: 'NotExists',
        message: 'No reservation is requested.',
      };
    case 'write': {
      const { name, startsAt, minutes, flags } = step.window;
      if (made === undefined) await note(aboutToCreate({ name, startsAt: wanted?.startsAt ?? startsAt }));
      await gateway.writeReservation(
        { name, startsAt, durationMinutes: minutes, nodes: step.nodes, users: ['slurm'], flags },
        signal,
      );
      return created({ name, startsAt: wanted?.startsAt ?? startsAt });
    }
    case 'conflict':
      return {
        type: conditionType.reservationCreated,
        status: 'False',
        reason: 'NameConflict',
        message: `Slurm has a reservation ${step.name} for foreign nodes: rename this NodeSet, or delete that reservation.`,
      };
    case 'none':
      if (made !== undefined && (made.certain || live !== undefined)) return created(made);
      return {
        type: conditionType.reservationCreated,
        status: 'False',
        reason: 'NotExists',
        message: waiting(wanted, nodes, now),
      };
    default:
      return step satisfies never;
  }
}

type NamedStart = Pick<MadeWindow, 'name' | 'startsAt'>;

const sentence = ({ name, startsAt }: NamedStart): string =>
  `Reservation ${name} starts at ${new Date(startsAt).toISOString().slice(0, 19)}Z.`;

function created(window: NamedStart): Verdict {
  return {
    type: conditionType.reservationCreated,
    status: 'True',
    reason: 'Created',
    message: sentence(window),
  };
}

function aboutToCreate(window: NamedStart): Verdict {
  return {
    type: conditionType.reservationCreated,
    status: 'Unknown',
    reason: 'Creating',
    message: sentence(window),
  };
}

function waiting(wanted: Window | undefined, nodes: readonly string[], now: number): string {
  if (nodes.length === 0)
    return 'The reservation is created when the first worker has registered with Slurm.';
  if (wanted !== undefined && wanted.startsAt <= now) {
    return `scheduledUpdate.startTime ${new Date(wanted.startsAt).toISOString().slice(0, 19)}Z is in the past: set a later time, or add the flag FORCE_START.`;
  }
  return 'The reservation does not exist.';
}

/** Whole minutes of a Go duration such as 1h30m; at least one. */
function goMinutes(text: string): number {
  return Math.max(1, Math.round((durationMilliseconds(text) ?? 0) / 60_000));
}
