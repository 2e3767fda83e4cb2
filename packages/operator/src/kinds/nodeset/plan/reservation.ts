/** The maintenance window of a ScheduledUpdate, as a Slurm reservation. */

export interface Window {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startsAt: number;
  readonly minutes: number;
  /** Upper-cased, MAINT and IGNORE_JOBS included. */
  readonly flags: readonly string[];
}

export interface LiveReservation {
  readonly name: string;
  readonly startsAt: number | undefined;
  readonly endsAt: number | undefined;
  readonly nodes: ReadonlySet<string>;
}

export type ReservationStep =
  | { readonly kind: 'none' }
  /** The name is in use for nodes that are none of ours. */
  | { readonly kind: 'conflict'; readonly name: string }
  | {
      readonly kind: 'write';
      readonly window: Window;
      readonly nodes: readonly string[];
      readonly fresh: boolean;
    }
  | { readonly kind: 'delete'; readonly name: string };

const recurring = new Set(['HOURLY', 'DAILY', 'WEEKLY', 'WEEKEND', 'WEEKDAY']);

export const isRecurring = ({ flags }: Window): boolean => flags.some((flag) => recurring.has(flag));

export interface MadeWindow {
  readonly name: string;
  readonly startsAt: number;
  readonly certain: boolean;
}

export interface ReservationInput {
  /** What the NodeSet asks for; undefined when it asks for none. */
  readonly wanted: Window | undefined;
  /** What Slurm has under that name; undefined when it answered that there is none. */
  readonly live: LiveReservation | undefined;
  /** The window that was made last, as the NodeSet's status remembers it; not `certain`: it was about to be made. */
  readonly made: MadeWindow | undefined;
  /** Slurm nodes of the set that are registered. */
  readonly nodes: readonly string[];
}

export function planReservation(
  { wanted, live, made, nodes }: ReservationInput,
  now: number,
): ReservationStep {
  if (wanted === undefined) {
    const left = live?.name ?? made?.name;
    if (left === undefined || (!made?.certain && isForeign(live, nodes))) return { kind: 'none' };
    return { kind: 'delete', name: left };
  }
  if (nodes.length === 0) return { kind: 'none' };
  if (live === undefined) {
    // A window that was made for this very start and is gone has been used: it does not come again.
    if (made?.certain && made.name === wanted.name && made.startsAt === wanted.startsAt)
      return { kind: 'none' };
    const possible = wanted.startsAt > now || wanted.flags.includes('FORCE_START');
    return possible ? { kind: 'write', window: wanted, nodes, fresh: true } : { kind: 'none' };
  }
  // The name says nothing of the namespace: on a shared Slurm another NodeSet of this name may have made it.
  if (!made?.certain && isForeign(live, nodes)) return { kind: 'conflict', name: live.name };
  const sameNodes = nodes.length === live.nodes.size && nodes.every((node) => live.nodes.has(node));
  const active = live.startsAt !== undefined && live.startsAt <= now;
  // Slurm itself moves the start of a recurring window, and an active one may only change its nodes.
  const keepsStart = active || isRecurring(wanted);
  const sameStart =
    keepsStart || Math.floor((live.startsAt ?? 0) / 1000) === Math.floor(wanted.startsAt / 1000);
  if (sameNodes && sameStart) return { kind: 'none' };
  return {
    kind: 'write',
    window: keepsStart ? { ...wanted, startsAt: live.startsAt ?? wanted.startsAt } : wanted,
    nodes,
    fresh: false,
  };
}

/** It is for other nodes than those of the set. */
function isForeign(live: LiveReservation | undefined, nodes: readonly string[]): boolean {
  if (live === undefined || live.nodes.size === 0 || nodes.length === 0) return false;
  return !nodes.some((node) => live.nodes.has(node));
}
