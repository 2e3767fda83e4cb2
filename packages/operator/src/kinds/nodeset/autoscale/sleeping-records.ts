/** The records of slots that sleep: created, replaced when a worker would be another, and given its features. Pure. */
import { featurePrefix } from '@slurm-operator/api';
import type { WorkerAction } from '../model/actions.ts';
import type { Autoscale } from '../model/autoscale.ts';
import { keptRecords } from '../model/kept-records.ts';
import { confIn } from '../model/node-comment.ts';
import { isBusy } from '../model/node-state.ts';
import type { Observed, SlurmNode } from '../model/observed.ts';
import type { SlotView } from './slot-states.ts';

export interface RecordsToCreate {
  readonly actions: readonly WorkerAction[];
  readonly withheld: readonly string[];
  readonly byController: readonly string[];
}

/** Records that one request creates; slurmctld holds its locks meanwhile. */
const mostRecords = 500;

export function recordsToCreate(
  observed: Observed,
  { shape, unsupported, cannotWake, recordsBy, conf }: Autoscale,
  slots: readonly SlotView[],
): RecordsToCreate {
  // Under a pod that Slurm does not know no record is created: its slurmd makes one, or has work that slurmctld forgot.
  const missing = slots.filter(
    ({ state, hasPod, slurmName }) => state === 'Missing' && !hasPod && !observed.takenNames.has(slurmName),
  );
  const unmarked = slots.filter(({ state }) => state === 'Unmarked');
  const comment = recordComment(observed, conf);
  const actions: WorkerAction[] = [];
  const withheld: string[] = [];
  const obstacle =
    unsupported ?? cannotWake ?? (shape === undefined ? 'the size of a worker is unknown' : undefined);
  if (missing.length > 0 && obstacle !== undefined)
    withheld.push(`${missing.length} records are not created: ${obstacle}`);
  const creatable = obstacle === undefined ? missing.slice(0, mostRecords) : [];
  const slurmNames = creatable.map(({ slurmName }) => slurmName);
  if (slurmNames.length > 0 && shape !== undefined && recordsBy === 'Rest')
    actions.push({ kind: 'create-records', slurmNames, shape, comment });
  if (unmarked.length > 0)
    actions.push({ kind: 'mark-records', slurmNames: unmarked.map(({ slurmName }) => slurmName), comment });
  return { actions, withheld, byController: recordsBy === 'Rest' ? [] : slurmNames };
}

/** Law L15: the record says whose it is. */
function recordComment({ namespace, name, uid }: Observed, conf: string): string {
  return JSON.stringify({ namespace, nodeSetName: name, nodeSetUID: uid, conf });
}

/**
 * The record of a sleeping slot that another worker made by registering, or that has another size than a worker has now: it is deleted,
 * and created again as it should be.
 */
export function isOutdated({ state, node, hasPod }: SlotView, autoscale: Autoscale): boolean {
  if (node === undefined || hasPod || isBusy(node) || node.deadline !== undefined) return false;
  if (state !== 'Sleeping' && state !== 'Stopping') return false;
  // What cannot be created again is kept.
  const { unsupported, cannotWake } = autoscale;
  if (unsupported !== undefined || cannotWake !== undefined || node.reservation !== undefined) return false;
  return differs(node, autoscale);
}

/** Not what a record that is created now would be; features are changed in place. */
export function differs(
  { size: shown, flags, comment }: Pick<SlurmNode, 'size' | 'flags' | 'comment'>,
  { size, shape, conf, recordsBy }: Autoscale,
): boolean {
  if (shape === undefined) return false;
  // Slurm 24.11 allocates no node that was deleted and created again before it reads its files again (seen): the old size is kept.
  if (recordsBy === 'Controller') return !flags.has('CLOUD');
  const isOther = (['cpus', 'memory', 'gpus'] as const).some(
    (key) => (size[key] ?? (key === 'gpus' ? 0 : shown[key])) !== shown[key],
  );
  return isOther || !flags.has('CLOUD') || (confIn(comment) ?? conf) !== conf;
}

/** Whether pending jobs still need a record. */
export const askAgain = 10_000;

/**
 * At most half of the records are missing at any time: sbatch refuses a job for which there are no nodes at that moment, and Slurm puts a pending one on hold whose
 * feature no node has. One that a pending job names waits until the job has started.
 */
export function replaceable(
  observed: Observed,
  autoscale: Autoscale,
  slots: readonly SlotView[],
): { readonly now: readonly SlotView[]; readonly needed: boolean } {
  const outdated = slots.filter((slot) => isOutdated(slot, autoscale));
  if (outdated.length === 0) return { now: [], needed: false };
  const missing = slots.filter(({ state }) => state === 'Missing' || state === 'Unknown').length;
  // The records of before may still be missing: the side container of slurmctld takes its time to create them (24.11).
  const some = outdated.slice(0, Math.max(0, Math.max(1, Math.floor(slots.length / 2)) - missing));
  const kept = new Set(
    keptRecords(
      some.flatMap(({ node }) => node ?? []),
      observed,
    ).map(({ name }) => name),
  );
  return { now: some.filter(({ slurmName }) => !kept.has(slurmName)), needed: kept.size > 0 };
}

/**
 * A slurmd that registers does not change the features of a record that exists (24.11 and 26.05). Those of the last Kubernetes node stay: a
 * job that asks for one could wake no node otherwise.
 */
export function otherFeatures(
  { features }: Observed,
  slots: readonly SlotView[],
  autoscale: Autoscale,
): WorkerAction[] {
  if (features === undefined) return [];
  const others = slots.flatMap((slot) => {
    const { state, node, slurmName, hasPod } = slot;
    if (hasPod || node?.ours !== true || (state !== 'Sleeping' && state !== 'Cooling')) return [];
    const [ofNode, own] = partition(node.features, (feature) => feature.startsWith(featurePrefix));
    const isSame = own.length === features.length && features.every((feature) => own.includes(feature));
    return isSame || isOutdated(slot, autoscale) ? [] : [{ slurmName, features: [...features, ...ofNode] }];
  });
  return [...Map.groupBy(others, (each) => each.features.join()).values()].map((group) => ({
    kind: 'mark-records',
    slurmNames: group.map(({ slurmName }) => slurmName),
    features: group[0]?.features ?? features,
  }));
}

function partition<T>(items: readonly T[], belongs: (item: T) => boolean): readonly [T[], T[]] {
  return [items.filter(belongs), items.filter((item) => !belongs(item))];
}
