/** The garbage collector: follows every kind the server serves, and deletes what lost its owners. */
import {
  type AnyResource,
  ChannelSource,
  ConflictError,
  type KubeObject,
  type Manager,
  NotFoundError,
  type Resource,
  resourceName,
  sleep,
  type Transform,
} from '@slurm-operator/kube';
import type { AnyObject, OwnerReference } from '../../objects/objects.ts';
import { servedResources } from '../served-resources.ts';
import { type GraphNode, OwnerGraph } from './graph.ts';
import { planGarbage } from './plan.ts';

/** Kinds that own nothing and are many. */
const ignored = new Set(['events', 'events.events.k8s.io']);
/** How often the list of kinds is read again; a new CRD also triggers it. */
const discoverEveryMs = 30_000;

const identityOnly: Transform<KubeObject> = (object) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  metadata: { ...object.metadata, managedFields: undefined, annotations: undefined, labels: undefined },
});

export function addGarbageCollector(manager: Manager): void {
  const { cache, client, log } = manager;
  const graph = new OwnerGraph();
  const work = new ChannelSource();
  const followed = new Map<string, AnyResource>();
  /** Uids that the server said are gone. They never come back, so they may be remembered. */
  const absent = new Set<string>();
  const look = (node: GraphNode | string) =>
    work.trigger({ name: typeof node === 'string' ? node : node.uid });

  manager.add({
    name: 'garbage-discovery',
    async run(signal) {
      while (!signal.aborted) {
        try {
          for (const resource of await servedResources(client, signal)) follow(resource);
        } catch (error) {
          if (!signal.aborted)
            log.warn({ reason: (error as Error).message }, 'the kinds to collect are not known');
        }
        rediscover = Promise.withResolvers<void>();
        await Promise.race([sleep(discoverEveryMs, signal).catch(() => {}), rediscover.promise]);
        // A CRD is served a moment after it is stored.
        await sleep(500, signal).catch(() => {});
      }
    },
  });
  let rediscover = Promise.withResolvers<void>();

  function follow(resource: AnyResource): void {
    const name = resourceName(resource);
    if (followed.has(name) || ignored.has(name)) return;
    followed.set(name, resource);
    const known = cache.informers.find((informer) => resourceName(informer.resource) === name);
    const informer = known ?? cache.informer(resource as Resource, { transform: identityOnly });
    informer.subscribe((change: { type: string; object: AnyObject }) => {
      if (resource.plural === 'customresourcedefinitions') rediscover.resolve();
      const { uid } = change.object.metadata;
      if (change.type === 'deleted') {
        absent.add(uid);
        const gone = graph.remove(uid);
        for (const dependent of graph.dependentsOf(uid)) look(dependent);
        for (const owner of gone?.owners ?? []) look(owner.uid);
        return;
      }
      const before = graph.get(uid);
      const node = graph.put(resource, change.object);
      if (node.owners.length > 0 || node.deleting) look(node);
      // A dependent that changed may be what its deleting owner waits for.
      for (const owner of new Set([...(before?.owners ?? []), ...node.owners].map((entry) => entry.uid)))
        if (graph.get(owner)?.deleting === true) look(owner);
      if (node.deleting && before?.deleting !== true)
        for (const dependent of graph.dependentsOf(uid)) look(dependent);
    });
  }

  manager
    .controller('garbage-collector')
    .source(work)
    .options({ workers: 8 })
    .reconcile(async ({ name: uid }, { signal }) => {
      const node = graph.get(uid);
      if (node === undefined) return;
      try {
        await act(node, signal);
      } catch (error) {
        if (error instanceof NotFoundError || error instanceof ConflictError) return { requeueAfter: 200 };
        throw error;
      }
      return;
    });

  async function act(node: GraphNode, signal: AbortSignal): Promise<void> {
    const action = planGarbage(node, graph, absent);
    const ref = { namespace: node.namespace, name: node.name };
    switch (action.do) {
      case 'nothing':
        return;
      case 'askFor': {
        for (const owner of action.owners) if (!(await exists(node, owner, signal))) absent.add(owner.uid);
        // Owners that do exist will be in the graph soon; asking again then costs nothing.
        if (action.owners.some((owner) => absent.has(owner.uid))) await act(node, signal);
        return;
      }
      case 'dropOwners': {
        const left = node.owners.filter((owner) => !action.uids.includes(owner.uid));
        await patchOwners(node, left, signal);
        return;
      }
      case 'delete':
        await client.delete(node.resource, ref, { uid: node.uid, propagation: action.propagation, signal });
        return;
      case 'orphanDependents':
        for (const dependent of action.dependents)
          await patchOwners(
            dependent,
            dependent.owners.filter((owner) => owner.uid !== node.uid),
            signal,
          );
        await removeFinalizer(node, 'orphan', signal);
        return;
      case 'removeFinalizer':
        await removeFinalizer(node, action.finalizer, signal);
        return;
      case 'deleteDependents':
        for (const dependent of action.dependents) look(dependent);
        if (!blocked(node)) await removeFinalizer(node, 'foregroundDeletion', signal);
    }
  }

  const blocked = (node: GraphNode) =>
    graph
      .dependentsOf(node.uid)
      .some((dependent) =>
        dependent.owners.some((owner) => owner.uid === node.uid && owner.blockOwnerDeletion === true),
      );

  async function exists(node: GraphNode, owner: OwnerReference, signal: AbortSignal): Promise<boolean> {
    const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : '';
    const resource = [...followed.values()].find(
      (entry) =>
        entry.kind === owner.kind &&
        (entry.apiVersion.includes('/') ? entry.apiVersion.split('/')[0] : '') === group,
    );
    // A kind that is not served may only be not served yet: keep the object.
    if (resource === undefined) return true;
    if (resource.namespaced && node.namespace === undefined) return true;
    const found = await client.find(
      resource as Resource,
      resource.namespaced ? { namespace: node.namespace, name: owner.name } : { name: owner.name },
      { signal },
    );
    return found?.metadata.uid === owner.uid;
  }

  async function patchOwners(
    node: GraphNode,
    owners: readonly OwnerReference[],
    signal: AbortSignal,
  ): Promise<void> {
    await client.mergePatch(
      node.resource as Resource,
      { namespace: node.namespace, name: node.name },
      { metadata: { uid: node.uid, ownerReferences: owners.length === 0 ? null : owners } },
      { signal },
    );
  }

  async function removeFinalizer(node: GraphNode, finalizer: string, signal: AbortSignal): Promise<void> {
    const live = await client.find(
      node.resource as Resource,
      { namespace: node.namespace, name: node.name },
      { signal },
    );
    if (live === undefined || live.metadata.uid !== node.uid) return;
    const left = (live.metadata.finalizers ?? []).filter((entry) => entry !== finalizer);
    await client.mergePatch(
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
