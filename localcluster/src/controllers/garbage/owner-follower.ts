/** Follows every kind that the server serves, keeps the graph of owners current, and names the objects to look at. */
import {
  type AnyResource,
  ChannelSource,
  type KubeObject,
  type Manager,
  type Resource,
  resourceName,
  sleep,
  type Transform,
} from '@slurm-operator/kube';
import type { AnyObject, OwnerReference } from '../../objects/objects.ts';
import { servedResources } from '../served-resources.ts';
import { type GraphNode, OwnerGraph } from './graph.ts';

/** Kinds that own nothing and are many. */
const ignored = new Set(['events', 'events.events.k8s.io']);
/** How often the list of kinds is read again; a new CRD also triggers it. */
const discoverEveryMs = 30_000;

const identityOnly: Transform<KubeObject> = (object) => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  metadata: { ...object.metadata, managedFields: undefined, annotations: undefined, labels: undefined },
});

export class OwnerFollower {
  readonly name = 'garbage-discovery';
  readonly graph = new OwnerGraph();
  /** Objects to look at, by uid. */
  readonly work = new ChannelSource();
  /** Uids that the server said are gone. They never come back, so they may be remembered. */
  readonly absent = new Set<string>();
  readonly #manager: Manager;
  readonly #followed = new Map<string, AnyResource>();
  #rediscover = Promise.withResolvers<void>();

  constructor(manager: Manager) {
    this.#manager = manager;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#manager;
    while (!signal.aborted) {
      try {
        for (const resource of await servedResources(client, signal)) this.#follow(resource);
      } catch (error) {
        if (!signal.aborted)
          log.warn({ reason: (error as Error).message }, 'the kinds to collect are not known');
      }
      this.#rediscover = Promise.withResolvers<void>();
      await Promise.race([sleep(discoverEveryMs, signal).catch(() => {}), this.#rediscover.promise]);
      // A CRD is served a moment after it is stored.
      await sleep(500, signal).catch(() => {});
    }
  }

  look(node: GraphNode | string): void {
    this.work.trigger({ name: typeof node === 'string' ? node : node.uid });
  }

  /** The followed kind that an owner reference names. */
  kindOf(owner: OwnerReference): AnyResource | undefined {
    return [...this.#followed.values()].find(
      (entry) => entry.kind === owner.kind && groupOf(entry.apiVersion) === groupOf(owner.apiVersion),
    );
  }

  #follow(resource: AnyResource): void {
    const { cache } = this.#manager;
    const name = resourceName(resource);
    if (this.#followed.has(name) || ignored.has(name)) return;
    this.#followed.set(name, resource);
    const known = cache.informers.find((informer) => resourceName(informer.resource) === name);
    const informer = known ?? cache.informer(resource as Resource, { transform: identityOnly });
    informer.subscribe((change: { type: string; object: AnyObject }) => this.#changed(resource, change));
  }

  #changed(resource: AnyResource, change: { readonly type: string; readonly object: AnyObject }): void {
    const { graph } = this;
    if (resource.plural === 'customresourcedefinitions') this.#rediscover.resolve();
    const { uid } = change.object.metadata;
    if (change.type === 'deleted') {
      this.absent.add(uid);
      const gone = graph.remove(uid);
      for (const dependent of graph.dependentsOf(uid)) this.look(dependent);
      for (const owner of gone?.owners ?? []) this.look(owner.uid);
      return;
    }
    const before = graph.get(uid);
    const node = graph.put(resource, change.object);
    if (node.owners.length > 0 || node.deleting) this.look(node);
    // A dependent that changed may be what its deleting owner waits for.
    for (const owner of new Set([...(before?.owners ?? []), ...node.owners].map((entry) => entry.uid)))
      if (graph.get(owner)?.deleting === true) this.look(owner);
    if (node.deleting && before?.deleting !== true)
      for (const dependent of graph.dependentsOf(uid)) this.look(dependent);
  }
}

const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
