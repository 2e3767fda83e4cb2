/**
 * Semantics of node states.
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
  /** `UNKNOWN` also if Slurm reports no base state, or one that this library does not know. */
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

/** A job or an epilog uses it. A state that this library does not know counts as busy: unknown is never idle. */
export function isBusy(state: NodeState): boolean {
  return working.some((name) => state.base === name || state.flags.has(name));
}

/** An administrator or a program drained it: Slurm places no new jobs on it. One that is being undrained may get jobs at once. */
export function isDrain(state: NodeState): boolean {
  return state.flags.has('DRAIN') && !state.flags.has('UNDRAIN');
}

/** DRAIN is set and jobs are still running. */
export function isDraining(state: NodeState): boolean {
  return isDrain(state) && isBusy(state);
}

/** DRAIN is set and nothing runs. Only valid for a state from a LIST: the response for one node is stale. */
export function isDrained(state: NodeState): boolean {
  return isDrain(state) && !isBusy(state);
}

export function isDown(state: NodeState): boolean {
  return state.base === 'DOWN';
}

/** Its slurmd does not respond to slurmctld. */
export function isNotResponding(state: NodeState): boolean {
  return state.flags.has('NOT_RESPONDING');
}

export function isIdle(state: NodeState): boolean {
  return state.base === 'IDLE' && !isBusy(state);
}

/** In a maintenance reservation, or rebooting. */
export function isMaintenance(state: NodeState): boolean {
  return ['MAINTENANCE', 'REBOOT_ISSUED', 'REBOOT_REQUESTED'].some((flag) => state.flags.has(flag));
}

/** Power saving has powered it down, or is powering it up or down. */
export function isPowering(state: NodeState): boolean {
  return ['POWERING_UP', 'POWERING_DOWN', 'POWER_DOWN', 'POWERED_DOWN', 'POWER_UP'].some((flag) =>
    state.flags.has(flag),
  );
}

/** slurmd registered with fewer resources than configured. */
export function isInvalidRegistration(state: NodeState): boolean {
  return state.flags.has('INVALID_REG');
}

/** Slurm can place jobs on it now. */
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
