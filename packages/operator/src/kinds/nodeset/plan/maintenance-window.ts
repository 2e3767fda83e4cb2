/** The maintenance window of a ScheduledUpdate: what the NodeSet asks for, what is recorded of it, and the actions in between. Pure. */
import { conditionType, type NodeSet, resourceName } from '@slurm-operator/api';
import type { DeepReadonly } from '@slurm-operator/kube';
import { durationMilliseconds } from '@slurm-operator/kubernetes-values';
import type { ReservationWrite } from '@slurm-operator/slurm';
import type { CustomAction } from '../../../framework/actions.ts';
import type { Condition } from '../../../framework/status/conditions.ts';
import { type LiveReservation, type MadeWindow, planReservation, type Window } from './reservation.ts';

const ownFlags = ['MAINT', 'IGNORE_JOBS'];

/** While Slurm does not say whether it has the reservation. */
const askAgain = 5_000;

/**
 * A request to create one may be carried out this long after it was sent, also when its sender was killed: slurmrestd repeats it while no
 * slurmctld answers, for up to two SlurmctldTimeout (120 s by default).
 */
export const lateWriteMs = 5 * 60_000;

/** As the status of the NodeSet holds it. */
export interface RecordedReservation {
  readonly name: string;
  readonly startTime: string;
  /** False: it was about to be created. */
  readonly created: boolean;
}

/** What Slurm has under the name of the window. Undefined: reservations play no part, and Slurm was not asked. */
export type ReservationAnswer =
  | { readonly kind: 'known'; readonly reservation: LiveReservation | undefined }
  | { readonly kind: 'unknown'; readonly why: string }
  | undefined;

export type WindowAction = CustomAction &
  (
    | {
        /** Slurm keeps nothing of ours with a reservation: after a crash between this and the write it is found, and removed if unwanted. */
        readonly type: 'NoteReservation';
        readonly record: RecordedReservation;
        readonly condition: Condition;
      }
    | { readonly type: 'WriteReservation'; readonly write: ReservationWrite }
    | { readonly type: 'DeleteReservation'; readonly name: string }
  );

export interface WindowPlan {
  readonly actions: readonly WindowAction[];
  /** What the status says once all actions succeeded. */
  readonly condition: Condition | undefined;
  readonly record: RecordedReservation | undefined;
  /** Without the NodeSet nothing would remember its reservation: it stays until Slurm has none. */
  readonly keepsFinalizer: boolean;
  readonly wakeAt: number | undefined;
  /** A request to create it may have been sent then and may not have been carried out yet; undefined: there is none. */
  readonly askedAt: number | undefined;
}

/** The window that the NodeSet asks for; undefined when it asks for none. */
export function wantedWindow(nodeSet: DeepReadonly<NodeSet>): Window | undefined {
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
    minutes: wholeMinutes(scheduledUpdate.duration),
    flags,
  };
}

/** The window that was created last, or was about to be, as the status records it. */
export function madeWindow(nodeSet: NodeSet): MadeWindow | undefined {
  const { reservation, conditions } = nodeSet.status ?? {};
  if (reservation !== undefined)
    return {
      name: reservation.name,
      startsAt: Date.parse(reservation.startTime),
      certain: reservation.created,
    };
  // Older operators recorded it in the condition alone. Then it was for the window that is requested now.
  const condition = conditions?.find(({ type }) => type === conditionType.reservationCreated);
  if (condition === undefined || condition.status === 'False' || condition.reason === 'SlurmUnknown')
    return undefined;
  return {
    name: resourceName.reservation(nodeSet.metadata.name),
    startsAt: wantedWindow(nodeSet)?.startsAt ?? 0,
    certain: condition.status === 'True',
  };
}

/** `nodes`: the Slurm nodes of the set that are registered. `askedAt`: of the last plan. */
export function planWindow(
  nodeSet: NodeSet,
  answer: ReservationAnswer,
  nodes: readonly string[],
  now: number,
  askedAt?: number,
): WindowPlan {
  const made = madeWindow(nodeSet);
  // After a restart it may have been sent a moment ago. A clock that was set back makes nothing wait for long.
  const last = made === undefined || made.certain ? undefined : Math.min(askedAt ?? now, now);
  const lateUntil = last === undefined ? now : last + lateWriteMs;
  const plan = decideWindow(nodeSet, answer, nodes, { now, lateUntil });
  return { ...plan, askedAt: plan.actions.some(({ type }) => type === 'WriteReservation') ? now : last };
}

function decideWindow(
  nodeSet: NodeSet,
  answer: ReservationAnswer,
  nodes: readonly string[],
  { now, lateUntil }: { readonly now: number; readonly lateUntil: number },
): WindowPlan {
  const wanted = wantedWindow(nodeSet);
  const made = madeWindow(nodeSet);
  if (wanted === undefined && made === undefined) return none;
  if (answer === undefined || answer.kind === 'unknown')
    return {
      ...none,
      condition: made === undefined ? unknown(answer?.why ?? 'it was not asked') : standing(made),
      record: made && recordOf(made, made.certain),
      keepsFinalizer: made !== undefined,
      wakeAt: now + askAgain,
    };
  const live = answer.reservation;
  const step = planReservation({ wanted, live, made, nodes }, now);
  // Forgotten now, it would be without an owner when it comes.
  if (made !== undefined && live === undefined && step.kind !== 'write' && now < lateUntil)
    return {
      ...none,
      condition: { ...aboutToCreate(made), message: mayComeLate(made, lateUntil) },
      record: recordOf(made, false),
      keepsFinalizer: true,
      wakeAt: now + askAgain,
    };
  switch (step.kind) {
    case 'delete':
      return {
        ...none,
        // Slurm 24.11 can neither create nor delete one over REST: one that it does not have must not fail every reconcile.
        actions:
          live === undefined
            ? []
            : [{ type: 'DeleteReservation', title: `Reservation ${step.name}`, name: step.name }],
        condition: notExists('No reservation is requested.'),
        keepsFinalizer: live !== undefined,
      };
    case 'write': {
      const { name, startsAt, minutes, flags } = step.window;
      const window = { name, startsAt: wanted?.startsAt ?? startsAt };
      const note: WindowAction = {
        type: 'NoteReservation',
        title: `record of Reservation ${name}`,
        record: recordOf(window, false),
        condition: aboutToCreate(window),
      };
      return {
        ...none,
        actions: [
          ...(made === undefined ? [note] : []),
          {
            type: 'WriteReservation',
            title: `Reservation ${name}`,
            write: { name, startsAt, durationMinutes: minutes, nodes: step.nodes, users: ['slurm'], flags },
            needs: made === undefined ? [note.title] : [],
          },
        ],
        condition: created(window),
        record: recordOf(window, true),
        keepsFinalizer: true,
      };
    }
    case 'conflict':
      return {
        ...none,
        condition: {
          ...notExists(''),
          reason: 'NameConflict',
          message: `Slurm has a reservation ${step.name} for foreign nodes: rename this NodeSet, or delete that reservation.`,
        },
      };
    case 'none':
      // Wanted by no one and for foreign nodes: it is not ours.
      if (wanted === undefined) return { ...none, condition: notExists('No reservation is requested.') };
      if (made?.certain || live !== undefined) {
        const window = made ?? wanted;
        return {
          ...none,
          condition: created(window),
          record: recordOf(window, true),
          keepsFinalizer: true,
        };
      }
      return { ...none, condition: notExists(waiting(wanted, nodes, now)) };
    default:
      return step satisfies never;
  }
}

const none: WindowPlan = {
  actions: [],
  condition: undefined,
  record: undefined,
  keepsFinalizer: false,
  wakeAt: undefined,
  askedAt: undefined,
};

type NamedStart = Pick<MadeWindow, 'name' | 'startsAt'>;

const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

const recordOf = ({ name, startsAt }: NamedStart, isCreated: boolean): RecordedReservation => ({
  name,
  startTime: timeText(startsAt),
  created: isCreated,
});

const sentence = ({ name, startsAt }: NamedStart): string =>
  `Reservation ${name} starts at ${timeText(startsAt)}.`;

const type = conditionType.reservationCreated;

const created = (window: NamedStart): Condition => ({
  type,
  status: 'True',
  reason: 'Created',
  message: sentence(window),
});

const aboutToCreate = (window: NamedStart): Condition => ({
  type,
  status: 'Unknown',
  reason: 'Creating',
  message: sentence(window),
});

const mayComeLate = ({ name }: NamedStart, until: number): string =>
  `Slurm does not have reservation ${name}, but a request to create it was interrupted and may still be carried out. Slurm is queried until ${timeText(until)}.`;

const standing = (made: MadeWindow): Condition => (made.certain ? created(made) : aboutToCreate(made));

const unknown = (why: string): Condition => ({
  type,
  status: 'Unknown',
  reason: 'SlurmUnknown',
  message: `It is unknown whether Slurm has the reservation: ${why}.`,
});

const notExists = (message: string): Condition => ({ type, status: 'False', reason: 'NotExists', message });

function waiting(wanted: Window | undefined, nodes: readonly string[], now: number): string {
  if (nodes.length === 0)
    return 'The reservation is created when the first worker has registered with Slurm.';
  if (wanted !== undefined && wanted.startsAt <= now)
    return `scheduledUpdate.startTime ${timeText(wanted.startsAt)} is in the past: set a later time, or add the flag FORCE_START.`;
  return 'The reservation does not exist.';
}

/** Whole minutes of a Go duration such as 1h30m; at least one. */
function wholeMinutes(text: string): number {
  return Math.max(1, Math.round((durationMilliseconds(text) ?? 0) / 60_000));
}
