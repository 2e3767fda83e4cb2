/** Does what the plan of the garbage collector says about one object. */
import { ConflictError, type Manager, NotFoundError, type Resource, type Result } from '@slurm-operator/kube';
import type { OwnerReference } from '../../objects/objects.ts';
import type { GraphNode } from './graph.ts';
import type { OwnerFollower } from './owner-follower.ts';
import { planGarbage } from './plan.ts';

export class Collector {
  readonly #manager: Manager;
  readonly #follower: OwnerFollower;

  constructor(manager: Manager, follower: OwnerFollower) {
    this.#manager = manager;
    this.#follower = follower;
  }

  async collect(uid: string, signal: AbortSignal): Promise<Result | undefined> {
    const node = this.#follower.graph.get(uid);
    if (node === undefined) return;
    try {
      await this.#act(node, signal);
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof ConflictError) return { requeueAfter: 200 };
      throw error;
    }
    return;
  }

  async #act(node: GraphNode, signal: AbortSignal): Promise<void> {
    const { graph, absent } = this.#follower;
    const action = planGarbage(node, graph, absent);
    const ref = { namespace: node.namespace, name: node.name };
    switch (action.do) {
      case 'nothing':
        return;
      case 'askFor': {
        for (const owner of action.owners)
          if (!(await this.#exists(node, owner, signal))) absent.add(owner.uid);
        // Owners that do exist will be in the graph soon; asking again then costs nothing.
        if (action.owners.some((owner) => absent.has(owner.uid))) await this.#act(node, signal);
        return;
      }
      case 'dropOwners': {
        const left = node.owners.filter((owner) => !action.uids.includes(owner.uid));
        await this.#patchOwners(node, left, signal);
        return;
      }
      case 'delete':
        await this.#manager.client.delete(node.resource, ref, {
          uid: node.uid,
          propagation: action.propagation,
          signal,
        });
        return;
      case 'orphanDependents':
        for (const dependent of action.dependents)
          await this.#patchOwners(
            dependent,
            dependent.owners.filter((owner) => owner.uid !== node.uid),
            signal,
          );
        await this.#removeFinalizer(node, 'orphan', signal);
        return;
      case 'removeFinalizer':
        await this.#removeFinalizer(node, action.finalizer, signal);
        return;
      case 'deleteDependents':
        for (const dependent of action.dependents) this.#follower.look(dependent);
        if (!this.#blocked(node)) await this.#removeFinalizer(node, 'foregroundDeletion', signal);
    }
  }

  #blocked(node: GraphNode): boolean {
    return this.#follower.graph
      .dependentsOf(node.uid)
      .some((dependent) =>
        dependent.owners.some((owner) => owner.uid === node.uid && owner.blockOwnerDeletion === true),
      );
  }

  async #exists(node: GraphNode, owner: OwnerReference, signal: AbortSignal): Promise<boolean> {
    const resource = this.#follower.kindOf(owner);
    // A kind that is not served may only be not served yet: keep the object.
    if (resource === undefined) return true;
    if (resource.namespaced && node.namespace === undefined) return true;
    const found = await this.#manager.client.find(
      resource as Resource,
      resource.namespaced ? { namespace: node.namespace, name: owner.name } : { name: owner.name },
      { signal },
    );
    return found?.metadata.uid === owner.uid;
  }

  async #patchOwners(node: GraphNode, owners: readonly OwnerReference[], signal: AbortSignal): Promise<void> {
    await this.#manager.client.mergePatch(
      node.resource as Resource,
      { namespace: node.namespace, name: node.name },
      { metadata: { uid: node.uid, ownerReferences: owners.length === 0 ? null : owners } },
      { signal },
    );
  }

  async #removeFinalizer(node: GraphNode, finalizer: string, signal: AbortSignal): Promise<void> {
    const live = await this.#manager.client.find(
      node.resource as Resource,
      { namespace: node.namespace, name: node.name },
      { signal },
    );
    if (live === undefined || live.metadata.uid !== node.uid) return;
    const left = (live.metadata.finalizers ?? []).filter((entry) => entry !== finalizer);
    await this.#manager.client.mergePatch(
      node.resource as Resource,
      live.metadata,
      {
        metadata: {
          uid: node.uid,
          resourceVersion: live.metadata.resourceVersion,
          finalizers: left.length === 0 ? null : left,
        },
      },
      { signal },
    );
  }
}
