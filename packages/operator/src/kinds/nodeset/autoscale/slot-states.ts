/** In which state each slot of an autoscaled NodeSet is, by the record that Slurm has of it. */

import type { Autoscale } from '../model/autoscale.ts';
import { askSlurm, isBusy, isOwn } from '../model/node-state.ts';
import { type Observed, type SlurmNode, slotKey, slurmNameOf, type Worker } from '../model/observed.ts';
import { hasFailed, manualReason } from './wake-history.ts';

export type SlotState =
  | 'Unknown' // no list, or one that is older than the last change of this node
  | 'Missing' // Slurm has no such node
  | 'Unmarked' // a record that was created for this slot and does not name its NodeSet yet
  | 'Foreign' // a node of this name that is not of this NodeSet
  | 'Sleeping' // powered down, and offered to Slurm's scheduler unless only a person wakes it
  | 'Cooling' // powered down, or about to be, and not offered
  | 'Waking' // Slurm wants it: a job was allocated to it, or someone powered it up
  | 'Awake'
  | 'Stopping'; // being powered down, or powered down while its pod still exists

export interface SlotView {
  readonly ordinal: number;
  readonly slurmName: string;
  readonly state: SlotState;
  readonly node: SlurmNode | undefined;
  readonly worker: Worker | undefined;
  /** A pod holds the name of this slot, whether it is a worker or not. */
  readonly hasPod: boolean;
}

export function slotStates(observed: Observed, { max, feature }: Autoscale): SlotView[] {
  const workers = new Map(observed.workers.map((worker) => [slotKey(worker.slot), worker]));
  const others = new Set(
    [...observed.orphans, ...observed.released, ...observed.foreignPods].map(({ slot }) => slotKey(slot)),
  );
  const below = Array.from({ length: max }, (_, ordinal) => ordinal);
  return [...below, ...awaitedFrom(max, observed)].map((ordinal): SlotView => {
    const slot = { mode: 'StatefulSet', ordinal } as const;
    const slurmName = slurmNameOf(slot, observed) ?? '';
    const worker = workers.get(slotKey(slot));
    const hasPod = worker !== undefined || others.has(slotKey(slot));
    const answer = askSlurm(observed.slurm, slurmName, observed.lastWrites);
    const node = answer.kind === 'present' ? answer.node : undefined;
    const state =
      answer.kind === 'unknown'
        ? 'Unknown'
        : node === undefined
          ? 'Missing'
          : stateOf(node, worker, hasPod, feature);
    return { ordinal, slurmName, state, node, worker, hasPod };
  });
}

/**
 * Slots from this one on whose workers a job waits for: without them it would be requeued or lost. A maximum may have been lowered,
 * autoscaling switched off, or the NodeSet deleted meanwhile.
 */
export function awaitedFrom(
  first: number,
  { slurm, naming: { prefix, padding } }: Pick<Observed, 'slurm' | 'naming'>,
): number[] {
  if (slurm.kind === 'unknown') return [];
  const ordinals: number[] = [];
  for (const node of slurm.nodes.values()) {
    if (!node.ours || !isAwaited(node) || !node.name.startsWith(prefix)) continue;
    const digits = node.name.slice(prefix.length);
    const ordinal = Number(digits);
    if (!/^\d{1,10}$/.test(digits) || String(ordinal).padStart(padding, '0') !== digits) continue;
    if (ordinal >= first) ordinals.push(ordinal);
  }
  return ordinals.toSorted((a, b) => a - b);
}

/** Slurm powers it up for a job, which starts when a worker has registered. */
export const isAwaited = (node: SlurmNode): boolean => isPoweringUp(node) && isBusy(node);

function stateOf(
  node: SlurmNode,
  worker: Worker | undefined,
  hasPod: boolean,
  feature: string,
): Exclude<SlotState, 'Unknown' | 'Missing'> {
  const isOwned = node.ours || (worker !== undefined && isOwn(node, worker));
  if (!isOwned) return isUnmarked(node, feature) ? 'Unmarked' : 'Foreign';
  if (!hasPod && hasFailed(node)) return 'Cooling';
  if (isPoweringUp(node)) return 'Waking';
  if (!isPoweredDown(node)) return 'Awake';
  if (hasPod || node.flags.has('POWERING_DOWN')) return 'Stopping';
  return node.base === 'IDLE' && (!node.flags.has('DRAIN') || isHeldByManual(node)) ? 'Sleeping' : 'Cooling';
}

/** Asleep, and drained because only a person wakes it. */
export const isHeldByManual = ({ flags, reason }: Pick<SlurmNode, 'flags' | 'reason'>): boolean =>
  flags.has('DRAIN') && reason.startsWith(manualReason);

type State = Pick<SlurmNode, 'flags'>;

/** Slurm gives it no work, and what registers under its name is ignored. */
export const isPoweredDown = ({ flags }: State): boolean =>
  (flags.has('POWERED_DOWN') || flags.has('POWERING_DOWN')) && !isPoweringUp({ flags });

/** Slurm powers up the node of this worker: it has no work there yet, and a job may wait for it. Autoscale may have been switched off since. */
export function isWakingUp(worker: Worker, { slurm }: Pick<Observed, 'slurm'>): boolean {
  const node = slurm.kind === 'unknown' ? undefined : slurm.nodes.get(worker.slurmName);
  return node !== undefined && isPoweringUp(node) && isOwn(node, worker);
}

/** Requested, or under way. The flag of a request alone means nothing: slurmctld acts on it only where the node is powered down. */
export const isPoweringUp = ({ flags }: State): boolean => flags.has('POWERING_UP') || isRequested({ flags });

/**
 * slurmctld has not begun with it, which takes up to its `power_save_interval`. A slurmd that registers before leaves the node with the flag of
 * the request for good, and without the reason of its drain (26.05).
 */
export const isRequested = ({ flags }: State): boolean => flags.has('POWER_UP') && flags.has('POWERED_DOWN');

/**
 * A record is created first and gets its comment in a second request. One that no slurmd ever registered for, without a comment and
 * with the feature of this NodeSet, is a creation that did not get that far.
 */
function isUnmarked(node: SlurmNode, feature: string): boolean {
  return (
    node.comment === '' &&
    node.instanceId === undefined &&
    node.slurmdStartedAt === undefined &&
    node.flags.has('CLOUD') &&
    node.flags.has('POWERED_DOWN') &&
    node.features.includes(feature)
  );
}

/** A sleeping record that was created for an autoscaled slot. Records that a slurmd made by registering have no flag CLOUD. */
export function isLeftAsleep(slurmName: string, { slurm }: Pick<Observed, 'slurm'>): boolean {
  const node = slurm.kind === 'known' ? slurm.nodes.get(slurmName) : undefined;
  return node !== undefined && node.ours && node.flags.has('CLOUD') && isPoweredDown(node);
}
