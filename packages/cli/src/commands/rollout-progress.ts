/** How far a rollout is, from the NodeSet alone, and whether it goes on without a person. Pure. */
import { count, moment } from '@slurm-operator/advice';
import { conditionType, type NodeSet } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import { isRecurring, wantedWindow } from '@slurm-operator/operator/dry-run';

export interface Progress {
  /** `over`: what the spec asks for is done. `waiting`: nothing happens before a person changes something, or before a maintenance window. */
  readonly state: 'over' | 'moving' | 'waiting';
  readonly text: string;
}

interface Clock {
  readonly now: number;
  readonly timeZone: string;
}

/** Whether the spec is newer than what the status is about. */
export const isUnseen = ({ status, metadata }: Live<NodeSet>): boolean =>
  (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);

export function progressOf(set: Live<NodeSet>, clock: Clock): Progress {
  const { status, spec } = set;
  const desired = status?.desired ?? spec.replicas ?? 0;
  const updated = status?.updatedReplicas ?? 0;
  const available = status?.availableReplicas ?? 0;
  const replicas = status?.replicas ?? 0;
  if (isUnseen(set)) return { state: 'moving', text: 'waiting for the operator to see the change' };
  const ready = status?.conditions?.find(({ type }) => type === conditionType.ready);
  const why = ready?.status === 'False' ? `: ${ready.message}` : '';
  const partition = partitionOf(set);
  const isSettled = replicas <= desired && available >= desired;
  if (updated < desired) {
    const text = `${updated} of ${desired} workers have the new revision`;
    if (partition > 0 && isSettled && updated >= desired - partition)
      return {
        state: 'over',
        text: `${text}; the ${count(desired - updated, 'other')} keep the old one until updateStrategy.rollingUpdate.partition is lower than ${partition}`,
      };
    // Where a worker is missing or leaves, the next one has the new revision.
    const blocked = isSettled ? waitsFor(set, clock) : undefined;
    if (blocked !== undefined) return { state: 'waiting', text: `${text}; ${blocked}` };
    const paused = spec.updateStrategy?.rollingUpdate?.paused ? '; the rollout is paused' : '';
    return { state: 'moving', text: `${text}${paused}${why}` };
  }
  if (replicas > desired)
    return { state: 'moving', text: `${count(replicas - desired, 'worker')} are still to be removed${why}` };
  if (available < desired)
    return { state: 'moving', text: withReason(`${available} of ${desired} workers are available`, why) };
  const all = desired === 1 ? 'the worker has' : `all ${desired} workers have`;
  return { state: 'over', text: `${all} the newest revision` };
}

/** The message of the condition often says the same. */
const withReason = (text: string, why: string): string =>
  why.startsWith(`: ${text}.`) ? why.slice(2).replace(/\.$/, '') : `${text}${why}`;

/** Ordinals below it keep the old revision; new workers of an autoscaled NodeSet are made of the newest. */
function partitionOf({ spec }: Live<NodeSet>): number {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const isCounted = spec.scalingMode !== 'DaemonSet' && spec.autoscale === undefined;
  return type === 'RollingUpdate' && isCounted ? (rollingUpdate?.partition ?? 0) : 0;
}

/** What workers with the old revision wait for, where the operator does nothing about them; undefined: it does. */
function waitsFor(set: Live<NodeSet>, clock: Clock): string | undefined {
  const { spec, status } = set;
  const progressing = status?.conditions?.find((one) => one.type === conditionType.progressing);
  if (progressing?.reason === 'Paused')
    return 'the rollout is paused: it goes on after kubectl slurm rollout resume';
  if (spec.updateStrategy?.type === 'OnDelete')
    return 'each other one is replaced when its pod is deleted (updateStrategy OnDelete)';
  const window = wantedWindow(set);
  if (window === undefined) return undefined;
  const end = window.startsAt + window.minutes * 60_000;
  if (clock.now < window.startsAt)
    return `the others are replaced in the maintenance window that begins at ${moment(window.startsAt, clock)}`;
  if (clock.now < end) return undefined;
  return isRecurring(window)
    ? 'the others are replaced in the next maintenance window'
    : `the others wait for a maintenance window, and the last one ended at ${moment(end, clock)}: set updateStrategy.scheduledUpdate.startTime`;
}
