/** Slurm node records that outlived their worker. */
import { reasonPrefix } from '@slurm-operator/api';
import type { Action } from './actions.ts';
import { askSlurm, hasDrain, isBusy, isForeign, isOurDrain } from './node-state.ts';
import { type Observed, type SlurmNode, slurmNameOf } from './observed.ts';
import type { SlotPlan } from './slots.ts';

export interface RecordPlan {
  readonly actions: readonly Action[];
  /** Records of ours that are still there and should not be. */
  readonly left: number;
  /** Those of them that will be gone soon; a reservation of another user may last for weeks. */
  readonly awaited: number;
}

export function recordActions(observed: Observed, slots: SlotPlan): RecordPlan {
  if (observed.slurm.kind === 'unknown') return { actions: [], left: 0, awaited: 0 };
  // A slot that is to be filled again keeps its record: the drain on it protects the successor until it has registered.
  const wanted = new Set([
    ...observed.workers.map((worker) => worker.slurmName),
    ...[...observed.orphans, ...observed.released, ...observed.strangers].map(
      (stranger) => stranger.slurmName,
    ),
    ...slots.vacant.map((slot) => slurmNameOf(slot, observed)),
  ]);
  const machines = new Set(observed.nodes.values().map((node) => node.workerHostname));
  const actions: Action[] = [];
  let left = 0;
  let reserved = 0;
  for (const node of observed.slurm.nodes.values()) {
    if (!node.ours || wanted.has(node.name)) continue;
    if (askSlurm(observed.slurm, node.name, observed.lastWrites).kind === 'unknown') {
      left += 1;
      continue;
    }
    if (isForeign(node) && !observed.deleting) continue; // somebody's note about this machine outlives the worker (L2)
    if (!mayPrune(observed, machines.has(node.name), isOurDrain(node))) continue;
    left += 1;
    if (isBusy(node)) continue; // Slurm itself must notice the loss; we know nothing of the containers (L11)
    // Its only job may be suspended, and Slurm would end that job with the record.
    const isReserved = isReservedByOthers(node, observed);
    const mayDelete = observed.slurm.jobsUnknown === undefined && !isReserved;
    if (hasDrain(node) || node.base === 'DOWN') {
      if (isReserved) reserved += 1;
      if (mayDelete) actions.push({ kind: 'delete-record', slurmName: node.name });
    } else
      actions.push({
        kind: 'drain',
        slurmName: node.name,
        reason: `${reasonPrefix}the worker behind this node is gone`,
      });
  }
  return { actions, left, awaited: left - reserved };
}

/** Slurm takes a deleted node out of every reservation, and ends one that loses its last node; only a deleted NodeSet may cost that. */
function isReservedByOthers({ reservation }: SlurmNode, { deleting, update }: Observed): boolean {
  return !deleting && reservation !== undefined && reservation !== update.reservation;
}

/** In DaemonSet mode a machine may come back under its name; its record goes only as the user wishes. */
function mayPrune(observed: Observed, hasMachine: boolean, drainedByUs: boolean): boolean {
  if (observed.deleting || observed.scalingMode === 'StatefulSet') return true;
  if (drainedByUs) return true;
  if (observed.pruneRecords === 'Never') return false;
  return !hasMachine;
}
