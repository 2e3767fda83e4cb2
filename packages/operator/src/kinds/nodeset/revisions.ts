/** ControllerRevisions: what each revision of a NodeSet was, so that `kubectl rollout`-like tools can show and undo. */
import { label, type NodeSet } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  type ControllerRevision,
  controllerOf,
  controllerReference,
  controllerRevisions,
  type Live,
  type Manager,
} from '@slurm-operator/kube';
import { revisionData } from './objects/revision.ts';
import { workerSelector } from './objects/worker-template.ts';

export interface RevisionPlan {
  readonly create: { readonly name: string; readonly revision: number } | undefined;
  /** A rollback makes an old revision the newest again: it gets the next number. */
  readonly raise: { readonly name: string; readonly revision: number } | undefined;
  readonly remove: readonly string[];
}

interface Known {
  readonly name: string;
  readonly hash: string;
  readonly revision: number;
}

/** Keeps the newest revision, those that workers still have, and as many others as the limit says. Pure. */
export function planRevisions(
  known: readonly Known[],
  update: string,
  inUse: ReadonlySet<string>,
  limit: number,
  nodeSet: string,
): RevisionPlan {
  const newest = Math.max(0, ...known.map((each) => each.revision));
  const current = known.find((each) => each.hash === update);
  const old = known
    .filter((each) => each.hash !== update && !inUse.has(each.hash))
    .toSorted((a, b) => b.revision - a.revision);
  return {
    create: current === undefined ? { name: `${nodeSet}-${update}`, revision: newest + 1 } : undefined,
    raise:
      current !== undefined && current.revision < newest
        ? { name: current.name, revision: newest + 1 }
        : undefined,
    remove: old.slice(limit).map((each) => each.name),
  };
}

/** What a revision holds: the cache keeps a digest only. Undefined: there is no such revision (any more). */
export async function revisionContent(
  nodeSet: NodeSet,
  revision: string,
  client: Manager['client'],
  signal: AbortSignal,
): Promise<unknown> {
  const { namespace, uid } = nodeSet.metadata;
  const labelSelector = `${label.revision}=${revision}`;
  const { items } = await client.list(controllerRevisions, { namespace, labelSelector, signal });
  return items.find((each) => each.metadata.ownerReferences?.some((owner) => owner.uid === uid))?.data;
}

export async function syncRevisions(
  nodeSet: NodeSet,
  update: string,
  inUse: ReadonlySet<string>,
  { cache, client }: Pick<Manager, 'cache' | 'client'>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, uid, name } = nodeSet.metadata;
  const live = cache
    .list(controllerRevisions, { namespace })
    .filter((each) => each.metadata.ownerReferences?.some((owner) => owner.uid === uid));
  const known = live.map((each: Live<ControllerRevision>) => ({
    name: each.metadata.name,
    hash: each.metadata.labels?.[label.revision] ?? '',
    revision: each.revision,
  }));
  const { create, raise, remove } = planRevisions(
    known,
    update,
    inUse,
    nodeSet.spec.revisionHistoryLimit,
    name,
  );
  if (create !== undefined) {
    const namesake = cache.get(controllerRevisions, { namespace, name: create.name });
    if (namesake === undefined) await record(nodeSet, update, create, client, signal);
    // Of another owner: of a NodeSet of our name that is gone, as a rule. It is collected before long, and its end wakes us.
    else if (controllerOf(namesake) === undefined)
      await takeOver(nodeSet, namesake, create.revision, client, signal);
  }
  if (raise !== undefined)
    await client.mergePatch(
      controllerRevisions,
      { namespace, name: raise.name },
      { revision: raise.revision },
      { signal },
    );
  for (const each of remove) await client.delete(controllerRevisions, { namespace, name: each }, { signal });
}

async function record(
  nodeSet: NodeSet,
  update: string,
  { name, revision }: { readonly name: string; readonly revision: number },
  client: Manager['client'],
  signal: AbortSignal,
): Promise<void> {
  const draft = {
    apiVersion: 'apps/v1' as const,
    kind: 'ControllerRevision' as const,
    metadata: {
      name,
      namespace: nodeSet.metadata.namespace,
      labels: { ...workerSelector(nodeSet), [label.revision]: update },
      ownerReferences: [controllerReference(nodeSet)],
    },
    data: JSON.parse(revisionData(nodeSet)) as object,
    revision,
  };
  try {
    await client.create(controllerRevisions, draft, { signal });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
  }
}

/** Left by a NodeSet that was deleted without what it owned. Its name is made of what it says, so it says the same. */
async function takeOver(
  nodeSet: NodeSet,
  { metadata }: Live<ControllerRevision>,
  revision: number,
  client: Manager['client'],
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid } = metadata;
  const body = { metadata: { uid, ownerReferences: [controllerReference(nodeSet)] }, revision };
  await client.patch(controllerRevisions, { namespace, name }, { type: 'strategic', body }, { signal });
}
