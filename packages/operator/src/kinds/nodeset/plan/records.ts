/** Slurm node records that outlived their worker. */
import { featurePrefix, reasonPrefix } from '@slurm-operator/api';
import { isLeftAsleep } from '../autoscale/slot-states.ts';
import type { WorkerAction } from '../model/actions.ts';
import { type KeptRecord, keptRecords } from '../model/kept-records.ts';
import { parseComment } from '../model/node-comment.ts';
import { askSlurm, hasDrain, isBusy, isForeign, isOurDrain } from '../model/node-state.ts';
import { type Observed, type SlurmNode, slurmNameOf } from '../model/observed.ts';
import type { SlotPlan } from './slots.ts';

export interface RecordPlan {
  readonly actions: readonly WorkerAction[];
  /** Records without a worker that stay because pending jobs need them. */
  readonly kept: readonly KeptRecord[];
  /** Records of ours that are still there and should not be. */
  readonly left: number;
  /** Those of them that will be gone soon; a reservation of another user may last for weeks. */
  readonly awaited: number;
}

export function recordActions(observed: Observed, slots: SlotPlan): RecordPlan {
  if (observed.slurm.kind === 'unknown') return { actions: [], kept: [], left: 0, awaited: 0 };
  const yielded = new Set(observed.yieldedNames);
  // A slot that is to be filled again keeps its record: the drain on it protects the successor until it has registered.
  const wanted = new Set([
    ...observed.workers.map((worker) => worker.slurmName),
    ...[...observed.orphans, ...observed.released, ...observed.foreignPods].map((pod) => pod.slurmName),
    ...slots.vacant
      .map((slot) => slurmNameOf(slot, observed) ?? '')
      .filter((name) => !isOutdatedRecord(name, observed))
      .filter((name) => observed.autoscale !== undefined || !isLeftAsleep(name, observed)),
    ...slots.states.map(({ slurmName }) => slurmName),
  ]);
  // Those machines belong to an older NodeSet, which waits until these records are gone.
  for (const { slurmName } of observed.workers) yielded.delete(slurmName);
  for (const name of yielded) wanted.delete(name);
  const replaced = new Set(
    slots.vacant
      .map((slot) => slurmNameOf(slot, observed) ?? '')
      .filter((name) => isOutdatedRecord(name, observed)),
  );
  const machines = new Set(observed.nodes.values().map((node) => node.workerHostname));
  const actions: WorkerAction[] = [];
  const deletable: SlurmNode[] = [];
  let left = 0;
  let reserved = 0;
  for (const node of observed.slurm.nodes.values()) {
    if (!node.ours || wanted.has(node.name)) continue;
    if (askSlurm(observed.slurm, node.name, observed.lastWrites).kind === 'unknown') {
      left += 1;
      continue;
    }
    if (isForeign(node) && !observed.deleting) continue; // a user's drain of this node outlives the worker (L2)
    const hasMachine = machines.has(node.name) && !yielded.has(node.name);
    const isOver = isOurDrain(node) || yielded.has(node.name) || hasOtherName(node, observed);
    if (!mayPrune(observed, hasMachine, isOver)) continue;
    left += 1;
    if (isBusy(node)) continue; // Slurm itself must notice the loss; we know nothing of the containers (L11)
    // Its only job may be suspended, and Slurm would end that job with the record.
    const isReserved = isReservedByOthers(node, observed);
    const mayDelete = observed.slurm.jobsUnknown === undefined && !isReserved;
    if (hasDrain(node) || node.base === 'DOWN') {
      if (isReserved) reserved += 1;
      if (mayDelete) deletable.push(node);
    } else
      actions.push({
        kind: 'drain',
        slurmName: node.name,
        reason: `${reasonPrefix}the worker behind this node is gone`,
      });
  }
  const kept = keptRecords(deletable, observed, replaced);
  const stays = new Set(kept.map(({ name }) => name));
  const deleted = deletable.filter(({ name }) => !stays.has(name));
  actions.push(...deleted.map(({ name }): WorkerAction => ({ kind: 'delete-record', slurmName: name })));
  return { actions, kept, left, awaited: left - reserved - kept.length };
}

/**
 * A slurmd that registers under a name that Slurm has keeps that record's CPUs, memory and features, whatever it presents (seen on 24.11
 * and 26.05). So the record of a predecessor with another configuration is deleted before its successor is created.
 */
export function isOutdatedRecord(name: string | undefined, observed: Observed): boolean {
  // An autoscaled slot may have another size than the limits of slurmd, and a job may wait for its record: see `isOutdated` there.
  if (observed.autoscale !== undefined) return false;
  const { slurm, features, size } = observed;
  const node = name === undefined || slurm.kind === 'unknown' ? undefined : slurm.nodes.get(name);
  if (node === undefined || features === undefined) return false;
  const own = node.features.filter((feature) => !feature.startsWith(featurePrefix));
  const sameFeatures = own.length === features.length && features.every((feature) => own.includes(feature));
  const sameSize = (['cpus', 'memory', 'gpus'] as const).every(
    (what) => size[what] === undefined || size[what] === node.size[what],
  );
  return !sameFeatures || !sameSize;
}

/** Slurm takes a deleted node out of every reservation, and ends one that loses its last node; only a deleted NodeSet may cost that. */
function isReservedByOthers({ reservation }: SlurmNode, { deleting, update }: Observed): boolean {
  return !deleting && reservation !== undefined && reservation !== update.reservation;
}

/** Its worker ran on a machine whose worker has another name now: it had an ordinal, before the scaling mode was changed. */
function hasOtherName({ name, comment }: SlurmNode, { nodes }: Observed): boolean {
  const machine = nodes.get(String(parseComment(comment)?.node));
  return machine !== undefined && machine.workerHostname !== name;
}

/** In DaemonSet mode a machine may come back under its name; its record is removed only if the user requests it. */
function mayPrune(observed: Observed, hasMachine: boolean, isOver: boolean): boolean {
  if (observed.deleting || observed.scalingMode === 'StatefulSet') return true;
  if (isOver) return true;
  if (observed.pruneRecords === 'Never') return false;
  return !hasMachine;
}
