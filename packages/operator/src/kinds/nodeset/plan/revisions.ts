/** ControllerRevisions: what each revision of a NodeSet was, so that `kubectl rollout`-like tools can show and undo. Pure. */
import { label, type NodeSet } from '@slurm-operator/api';
import { type ControllerRevision, controllerReference, controllerRevisions } from '@slurm-operator/kube';
import type { Action } from '../../../framework/actions.ts';
import { isHealthy } from '../model/availability.ts';
import type { Observed, Slot } from '../model/observed.ts';
import { revisionData } from '../objects/revision.ts';
import { workerSelector } from '../objects/worker-template.ts';

export interface RecordedRevision {
  readonly name: string;
  readonly uid: string;
  readonly hash: string;
  readonly revision: number;
}

export interface ObservedRevisions {
  readonly ours: readonly RecordedRevision[];
  /** An object that has the name of the newest revision, with any owner. */
  readonly ofNewestName: { readonly uid: string; readonly isOwned: boolean } | undefined;
}

export interface RevisionChanges {
  readonly create: { readonly name: string; readonly revision: number } | undefined;
  /** A rollback makes an old revision the newest again: it gets the next number. */
  readonly raise: { readonly name: string; readonly revision: number } | undefined;
  readonly remove: readonly RecordedRevision[];
}

export const revisionName = (nodeSet: string, hash: string): string => `${nodeSet}-${hash}`;

/** Keeps the newest revision, those that workers still have, and as many others as the limit says. */
export function revisionChanges(
  known: readonly RecordedRevision[],
  update: string,
  inUse: ReadonlySet<string>,
  limit: number,
  nodeSet: string,
): RevisionChanges {
  const newest = Math.max(0, ...known.map((each) => each.revision));
  const current = known.find((each) => each.hash === update);
  const old = known
    .filter((each) => each.hash !== update && !inUse.has(each.hash))
    .toSorted((a, b) => b.revision - a.revision);
  return {
    create: current === undefined ? { name: revisionName(nodeSet, update), revision: newest + 1 } : undefined,
    raise:
      current !== undefined && current.revision < newest
        ? { name: current.name, revision: newest + 1 }
        : undefined,
    remove: old.slice(limit),
  };
}

export function planRevisions(
  nodeSet: NodeSet,
  update: string,
  inUse: ReadonlySet<string>,
  { ours, ofNewestName }: ObservedRevisions,
): Action[] {
  const { namespace, name } = nodeSet.metadata;
  const limit = nodeSet.spec.revisionHistoryLimit;
  const { create, raise, remove } = revisionChanges(ours, update, inUse, limit, name);
  const resource = controllerRevisions;
  const actions: Action[] = [];
  if (create !== undefined) {
    if (ofNewestName === undefined)
      actions.push({ type: 'Create', resource, object: newRevision(nodeSet, update, create) });
    // Owned by another: as a rule by a NodeSet of this name that is gone. It is collected soon, and its end triggers a reconcile.
    else if (!ofNewestName.isOwned) actions.push(takeOver(nodeSet, ofNewestName.uid, create));
  }
  if (raise !== undefined)
    actions.push({
      type: 'Patch',
      resource,
      ref: { namespace, name: raise.name },
      body: { revision: raise.revision },
    });
  for (const { name: old, uid } of remove)
    actions.push({ type: 'Delete', resource, ref: { namespace, name: old }, uid });
  return actions;
}

function newRevision(
  nodeSet: NodeSet,
  update: string,
  { name, revision }: { readonly name: string; readonly revision: number },
): ControllerRevision {
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace: nodeSet.metadata.namespace,
      labels: { ...workerSelector(nodeSet), [label.revision]: update },
      ownerReferences: [controllerReference(nodeSet)],
    },
    data: JSON.parse(revisionData(nodeSet)) as object,
    revision,
  };
}

/** Left by a NodeSet that was deleted without what it owned. Its name is derived from its content, so the content is the same. */
function takeOver(
  nodeSet: NodeSet,
  uid: string,
  { name, revision }: { readonly name: string; readonly revision: number },
): Action {
  const { namespace } = nodeSet.metadata;
  const body = { metadata: { uid, ownerReferences: [controllerReference(nodeSet)] }, revision };
  return { type: 'Patch', resource: controllerRevisions, ref: { namespace, name }, patch: 'strategic', body };
}

/**
 * The revision before the rollout that is not over, as a StatefulSet keeps it: the newest takes its place once every worker has that
 * and is ready. It stands in the status, because nothing else remembers what a worker that is gone was made of.
 */
export function keptRevision(observed: Observed): string {
  const { updateRevision, currentRevision, replicas, scalingMode } = observed;
  if (scalingMode === 'DaemonSet') return updateRevision;
  const workers = observed.workers.filter((worker) => !worker.terminating);
  const over =
    workers.length === replicas &&
    workers.every((worker) => worker.revision === updateRevision && isHealthy(worker));
  if (over) return updateRevision;
  if (currentRevision !== '') return currentRevision;
  const older = workers.find((worker) => isBelowPartition(worker.slot, observed) && worker.revision !== '');
  return older?.revision ?? updateRevision;
}

/**
 * What a worker in this slot is made of now; undefined: the newest. `kept` is found once for all slots. With autoscale it is always the newest:
 * Slurm gives jobs to the record of a sleeping node, which is made of that, and a worker of another name or size would not be the one that they
 * wait for.
 */
export function olderRevisionFor(slot: Slot, observed: Observed, kept: string): string | undefined {
  if (observed.autoscale !== undefined) return undefined;
  return kept !== observed.updateRevision && isBelowPartition(slot, observed) ? kept : undefined;
}

function isBelowPartition(slot: Slot, { update }: Observed): boolean {
  return slot.mode === 'StatefulSet' && update.type === 'RollingUpdate' && slot.ordinal < update.partition;
}
