/** What the garbage collector does with one object, given who owns it and whom it owns. Pure. */
import type { OwnerReference } from '../../objects/objects.ts';
import type { GraphNode, OwnerGraph } from './graph.ts';

export type Action =
  | { readonly do: 'nothing' }
  /** An owner is not in the graph: the API server itself must say whether it exists. */
  | { readonly do: 'askFor'; readonly owners: readonly OwnerReference[] }
  | { readonly do: 'dropOwners'; readonly uids: readonly string[] }
  | { readonly do: 'delete'; readonly propagation: 'Background' | 'Foreground' }
  | { readonly do: 'orphanDependents'; readonly dependents: readonly GraphNode[] }
  | { readonly do: 'removeFinalizer'; readonly finalizer: 'foregroundDeletion' | 'orphan' }
  | { readonly do: 'deleteDependents'; readonly dependents: readonly GraphNode[] };

const foreground = 'foregroundDeletion';

/** `absent` holds the uids that the API server said do not exist. */
export function planGarbage(node: GraphNode, graph: OwnerGraph, absent: ReadonlySet<string>): Action {
  if (node.deleting) return planDeleting(node, graph);
  if (node.owners.length === 0) return { do: 'nothing' };
  const unsure = node.owners.filter(
    (owner) => !absent.has(owner.uid) && findOwner(node, owner, graph) === undefined,
  );
  if (unsure.length > 0) return { do: 'askFor', owners: unsure };
  const standing: OwnerReference[] = [];
  const waiting: OwnerReference[] = [];
  const dangling: OwnerReference[] = [];
  for (const owner of node.owners) {
    const found = findOwner(node, owner, graph);
    if (found === undefined) dangling.push(owner);
    else if (found.deleting && found.finalizers.includes(foreground)) waiting.push(owner);
    else standing.push(owner);
  }
  if (standing.length > 0) {
    const leaving = [...dangling, ...waiting].map((owner) => owner.uid);
    return leaving.length === 0 ? { do: 'nothing' } : { do: 'dropOwners', uids: leaving };
  }
  // An owner that waits for us wants our own dependents gone before us.
  const chained = waiting.length > 0 && graph.dependentsOf(node.uid).length > 0;
  return { do: 'delete', propagation: chained ? 'Foreground' : 'Background' };
}

function planDeleting(node: GraphNode, graph: OwnerGraph): Action {
  const dependents = graph.dependentsOf(node.uid);
  if (node.finalizers.includes('orphan'))
    return dependents.length > 0
      ? { do: 'orphanDependents', dependents }
      : { do: 'removeFinalizer', finalizer: 'orphan' };
  if (!node.finalizers.includes(foreground)) return { do: 'nothing' };
  const blocking = dependents.filter((dependent) =>
    dependent.owners.some((owner) => owner.uid === node.uid && owner.blockOwnerDeletion === true),
  );
  const fresh = dependents.filter((dependent) => !dependent.deleting);
  if (fresh.length > 0) return { do: 'deleteDependents', dependents: fresh };
  return blocking.length === 0 ? { do: 'removeFinalizer', finalizer: foreground } : { do: 'nothing' };
}

/** An owner counts in its dependent's namespace, or without any; one of another namespace is no owner. */
function findOwner(node: GraphNode, owner: OwnerReference, graph: OwnerGraph): GraphNode | undefined {
  const found = graph.get(owner.uid);
  if (found === undefined || found.resource.kind !== owner.kind) return undefined;
  return found.namespace === undefined || found.namespace === node.namespace ? found : undefined;
}
