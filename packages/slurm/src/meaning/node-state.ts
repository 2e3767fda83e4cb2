/**
 * What the states of a node mean, in one place.
 *
 * Slurm writes a base state and any number of flags into one list. "DRAINED" and "DRAINING" are not among them: they are
 * DRAIN together with an idle or a busy base state.
 */

export const baseStates = [
  'UNKNOWN',
  'DOWN',
  'IDLE',
  'ALLOCATED',
  'ERROR',
  'MIXED',
  'FUTURE',
  'EXTERNAL',
] as const;
export type NodeBaseState = (typeof baseStates)[number];

export interface NodeState {
  /** `UNKNOWN` also when Slurm names none or one that is not known here. */
  readonly base: NodeBaseState;
  readonly flags: ReadonlySet<string>;
}

export function parseNodeState(names: readonly string[]): NodeState {
  const isBase = (name: string): name is NodeBaseState => (baseStates as readonly string[]).includes(name);
  const base = names.find(isBase) ?? 'UNKNOWN';
  return { base, flags: new Set(names.filter((name) => name !== base)) };
}

/** As `sinfo` and `scontrol` write it: `IDLE+DRAIN`. */
export function formatNodeState(state: NodeState): string {
  return [state.base, ...state.flags].join('+');
}

export function sameNodeState(a: NodeState, b: NodeState): boolean {
  return (
    a.base === b.base && a.flags.size === b.flags.size && [...a.flags].every((flag) => b.flags.has(flag))
  );
}

const quiet: ReadonlySet<NodeBaseState> = new Set(['IDLE', 'DOWN', 'FUTURE']);
const working = [...baseStates.filter((base) => !quiet.has(base)), 'COMPLETING'];

/** Work holds resources on it, or its epilog is not over. A state that is not known here counts as busy: unknown is never idle. */
export function isBusy(state: NodeState): boolean {
  return working.some((name) => state.base === name || state.flags.has(name));
}

/** No new work is placed on it by an administrator's or an operator's wish. */
export function isDrain(state: NodeState): boolean {
  return state.flags.has('DRAIN');
}

/** Drain is set and work is still there. */
export function isDraining(state: NodeState): boolean {
  return isDrain(state) && isBusy(state);
}

/** Drain is set and nothing runs there. True only of a state read from a LIST: the answer for one node is stale. */
export function isDrained(state: NodeState): boolean {
  return isDrain(state) && !isBusy(state);
}

export function isDown(state: NodeState): boolean {
  return state.base === 'DOWN';
}

/** Its slurmd does not answer slurmctld. */
export function isNotResponding(state: NodeState): boolean {
  return state.flags.has('NOT_RESPONDING');
}

export function isIdle(state: NodeState): boolean {
  return state.base === 'IDLE' && !isBusy(state);
}

/** Reserved for a maintenance window or going through a reboot. */
export function isMaintenance(state: NodeState): boolean {
  return ['MAINTENANCE', 'REBOOT_ISSUED', 'REBOOT_REQUESTED'].some((flag) => state.flags.has(flag));
}

/** Power saving is at work on it. */
export function isPowering(state: NodeState): boolean {
  return ['POWERING_UP', 'POWERING_DOWN', 'POWER_DOWN', 'POWERED_DOWN', 'POWER_UP'].some((flag) =>
    state.flags.has(flag),
  );
}

/** slurmd reported less than it promised. */
export function isInvalidRegistration(state: NodeState): boolean {
  return state.flags.has('INVALID_REG');
}

/** Slurm can place work on it now. */
export function isSchedulable(state: NodeState): boolean {
  const blocked = [
    'DRAIN',
    'FAIL',
    'NOT_RESPONDING',
    'INVALID_REG',
    'REBOOT_ISSUED',
    'POWERED_DOWN',
    'POWERING_DOWN',
    'MAINTENANCE',
    'BLOCKED',
  ];
  return (
    ['IDLE', 'MIXED', 'ALLOCATED'].includes(state.base) && !blocked.some((flag) => state.flags.has(flag))
  );
}
