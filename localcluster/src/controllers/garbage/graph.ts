/** Who owns whom, in memory: every object of the cluster by uid, with its owners and dependents. No I/O. */
import type { AnyResource } from '@slurm-operator/kube';
import type { AnyObject, OwnerReference } from '../../objects/objects.ts';

export interface GraphNode {
  readonly resource: AnyResource;
  readonly uid: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly deleting: boolean;
}

export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  dependentsOf(uid: string): GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#nodes.get(dependent) ?? []);
  }

  put(resource: AnyResource, object: AnyObject): GraphNode {
    const { metadata } = object;
    this.remove(metadata.uid);
    const node: GraphNode = {
      resource,
      uid: metadata.uid,
      name: metadata.name,
      namespace: metadata.namespace,
      owners: metadata.ownerReferences ?? [],
      finalizers: metadata.finalizers ?? [],
      deleting: metadata.deletionTimestamp !== undefined,
    };
    this.#nodes.set(node.uid, node);
    for (const owner of node.owners) {
      const set = this.#dependents.get(owner.uid) ?? new Set();
      set.add(node.uid);
      this.#dependents.set(owner.uid, set);
    }
    return node;
  }

  remove(uid: string): GraphNode | undefined {
    const node = this.#nodes.get(uid);
    if (node === undefined) return undefined;
    this.#nodes.delete(uid);
    for (const owner of node.owners) {
      const set = this.#dependents.get(owner.uid);
      set?.delete(uid);
      if (set?.size === 0) this.#dependents.delete(owner.uid);
    }
    return node;
  }
}
