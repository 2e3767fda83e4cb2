/** The clusters that the dashboard shows: one view with one feed for each Cluster in the cache, whatever the number of browsers. */

import { type Cluster, label, resourceName } from '@slurm-operator/api';
import {
  ClusterFeed,
  type ClusterObjects,
  type ClusterRef,
  type ClusterView,
  type ClusterViews,
  NoSlurmToken,
  type Session,
  templatesOf,
} from '@slurm-operator/dashboard';
import {
  type AnyResource,
  type Cache,
  type Client,
  configMaps,
  controllerRevisions,
  events,
  type Live,
  type Log,
  nodes,
  pods,
} from '@slurm-operator/kube';
import { type Clock, occupiesNodes, SlurmClient, staticToken } from '@slurm-operator/slurm';
import { clusters, controllers, nodeSets, restApis } from '../cache/resources.ts';
import { slurmUserOf, type UserMapping } from '../exchange/slurm-user.ts';
import { resolveTarget } from '../slurm-connection/target.ts';
import { ExchangeRefused } from './ask-exchange.ts';
import { planRollout } from './rollout-plan.ts';
import type { SlurmTokens } from './slurm-tokens.ts';

export interface ClusterPoolOptions {
  readonly cache: Cache;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly tokens: SlurmTokens;
  /** The dashboard's own token of Kubernetes. */
  readonly ownBearer: () => Promise<string>;
  /** Runs something with the user's own token of Kubernetes. */
  readonly asUser: (session: Session, run: (client: Client) => Promise<void>) => Promise<void>;
  readonly users: UserMapping;
  /** Whether people whom a proxy has logged in may change anything. */
  readonly actAsUsers: boolean;
  /** How a Service is reached from here. */
  readonly serviceHost: (namespace: string, service: string) => string;
}

interface Followed {
  readonly uid: string;
  readonly server: string;
  readonly view: ClusterView;
  readonly close: () => Promise<void>;
}

/** Clusters that came, went or moved are noticed this often. */
const lookEveryMs = 2_000;
const requestTimeoutMs = 20_000;
/** Where a Cluster says no address: requests fail at once, and the page says why. */
const nowhere = 'http://127.0.0.1:9';

export class ClusterPool implements ClusterViews {
  readonly name = 'clusters of the dashboard';
  readonly #options: ClusterPoolOptions;
  readonly #followed = new Map<string, Followed>();

  constructor(options: ClusterPoolOptions) {
    this.#options = options;
  }

  list(): readonly ClusterView[] {
    return [...this.#followed.values()].map(({ view }) => view);
  }

  find({ namespace, name }: ClusterRef): ClusterView | undefined {
    return this.#followed.get(`${namespace}/${name}`)?.view;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await this.#look();
      await new Promise<void>((resolve) => {
        const cancel = clock.schedule(lookEveryMs, resolve);
        signal.addEventListener('abort', () => (cancel(), resolve()), { once: true });
      });
    }
    await Promise.all([...this.#followed.values()].map(({ close }) => close()));
    this.#followed.clear();
  }

  async #look(): Promise<void> {
    const found = new Map<string, Live<Cluster>>();
    for (const cluster of this.#options.cache.list(clusters))
      found.set(`${cluster.metadata.namespace}/${cluster.metadata.name}`, cluster);
    for (const [key, { uid, server, close }] of this.#followed) {
      const cluster = found.get(key);
      if (cluster?.metadata.uid === uid && this.#serverOf(cluster) === server) continue;
      this.#followed.delete(key);
      await close();
    }
    for (const [key, cluster] of found)
      if (!this.#followed.has(key)) this.#followed.set(key, this.#follow(cluster));
  }

  #follow(cluster: Live<Cluster>): Followed {
    const { clock, log, tokens, ownBearer, users } = this.#options;
    const { namespace, name, uid } = cluster.metadata;
    const ref = { namespace, name };
    const server = this.#serverOf(cluster);
    const reader = new SlurmClient({
      server,
      token: tokens.provider({ namespace, cluster: name, scope: 'view' }, ownBearer),
      timeoutMs: requestTimeoutMs,
    });
    const feed = new ClusterFeed({
      client: reader,
      clock,
      // Higher than what an earlier process told to a browser that is still open.
      firstVersion: clock.now(),
      onError: (error) =>
        log.error({ err: error, cluster: name, namespace }, 'a listener of the feed failed'),
    });
    feed.start();
    log.info({ cluster: name, namespace, server }, 'following a cluster');
    const view: ClusterView = {
      ref,
      feed,
      reader,
      objects: () => this.#objects(ref),
      slurmIdentity: ({ user }) => slurmUserOf(user.username, users),
      configFiles: async (signal) => {
        const of = this.#options.cache.get(clusters, ref)?.spec.controllerRef?.name;
        if (of === undefined) return undefined;
        const [inForce, tried] = await Promise.all(
          [resourceName.config(of), resourceName.configTrial(of)].map((map) =>
            this.#options.client.find(configMaps, { namespace, name: map }, { signal }),
          ),
        );
        return inForce?.data && { inForce: inForce.data, tried: tried?.data };
      },
      jobTemplates: async (signal) => {
        const selector = { namespace, labelSelector: label.jobTemplate, signal };
        return templatesOf((await this.#options.client.list(configMaps, selector)).items, name);
      },
      planRollout: (nodeSet, signal) => this.#plan(ref, feed, nodeSet, signal),
      pauseRollout: (session, nodeSet, paused, signal) =>
        this.#options.asUser(session, async (client) => {
          const body = { spec: { updateStrategy: { rollingUpdate: { paused } } } };
          await client.mergePatch(nodeSets, { namespace, name: nodeSet }, body, { signal });
        }),
      actAs: async (session, scope, signal) => {
        const { token, slurmUser } = await this.#tokenOf(session, { ...ref, scope }, signal);
        const client = new SlurmClient({ server, token: staticToken(token), timeoutMs: requestTimeoutMs });
        return { client, user: slurmUser, [Symbol.dispose]: () => client.close() };
      },
    };
    return {
      uid,
      server,
      view,
      async close() {
        await feed[Symbol.asyncDispose]();
        reader.close();
      },
    };
  }

  async #tokenOf(
    { bearer, user }: Session,
    { namespace, name, scope }: ClusterRef & { readonly scope: 'jobs' | 'nodes' },
    signal: AbortSignal,
  ) {
    const { actAsUsers, ownBearer, tokens } = this.#options;
    if (bearer === undefined && !actAsUsers)
      throw new NoSlurmToken(
        `${user.username} came through a proxy, and dashboard.proxy.actAsUsers is false, so nothing can be changed here.`,
        403,
      );
    try {
      if (bearer !== undefined) return await tokens.get({ bearer, namespace, cluster: name, scope }, signal);
      const groups = (user.groups ?? []).filter((group) => !group.startsWith('system:'));
      const onBehalfOf = { user: user.username, groups };
      const asked = { bearer: await ownBearer(), namespace, cluster: name, scope, onBehalfOf };
      return await tokens.get(asked, signal);
    } catch (error) {
      if (error instanceof ExchangeRefused) throw new NoSlurmToken(error.message, error.status);
      throw error;
    }
  }

  #objects({ namespace, name }: ClusterRef): ClusterObjects | undefined {
    const { cache } = this.#options;
    const cluster = cache.get(clusters, { namespace, name });
    if (cluster === undefined) return undefined;
    const of = cluster.spec.controllerRef?.name;
    return {
      cluster,
      controller: of === undefined ? undefined : cache.get(controllers, { namespace, name: of }),
      nodeSets: cache.list(nodeSets, { namespace }).filter(({ spec }) => spec.controllerRef.name === of),
      pods: cache.list(pods, { namespace }),
      events: cache.list(events, { namespace }),
    };
  }

  /** What slurmctld reads. It is asked for when a person looks: a cache would hold every ConfigMap of every namespace. */
  #configOf(namespace: string, controller: string, signal: AbortSignal) {
    const map = { namespace, name: resourceName.config(controller) };
    return this.#options.client.find(configMaps, map, { signal });
  }

  async #plan({ namespace, name }: ClusterRef, feed: ClusterFeed, setName: string, signal: AbortSignal) {
    const { cache, clock, log } = this.#options;
    const nodeSet = cache.get(nodeSets, { namespace, name: setName });
    if (nodeSet === undefined) return undefined;
    const resources: readonly AnyResource[] = [nodeSets, controllers, clusters, pods, controllerRevisions];
    try {
      const config = await this.#configOf(namespace, nodeSet.spec.controllerRef.name, signal);
      const { slurmNodes } = feed;
      if (slurmNodes.kind === 'unknown' || feed.freshness.jobs.kind === 'unknown') return undefined;
      return planRollout({
        nodeSet,
        list: (plural) => {
          if (plural === nodes.plural) return cache.list(nodes);
          if (plural === configMaps.plural) return config === undefined ? [] : [config];
          const found = resources.find((one) => one.plural === plural);
          return found === undefined ? [] : cache.list(found as typeof pods, { namespace });
        },
        slurmNodes: [...slurmNodes.nodes.values()],
        jobs: [...feed.jobs.rows.values()]
          .filter(({ state, nodes: hosts }) => hosts !== '' && occupiesNodes(state.split('+')))
          .map((row) => ({ ...row, suspended: row.state.includes('SUSPENDED') })),
        now: clock.now(),
      });
    } catch (error) {
      // The page shows the rollout all the same.
      log.warn({ err: error, cluster: name, namespace, nodeSet: setName }, 'cannot plan the rollout');
      return undefined;
    }
  }

  #serverOf(cluster: Live<Cluster>): string {
    const { cache, serviceHost } = this.#options;
    const { namespace } = cluster.metadata;
    const target = resolveTarget(cluster, {
      controller: cache.get(controllers, { namespace, name: cluster.spec.controllerRef?.name ?? '' }),
      restApis: cache.list(restApis, { namespace }),
      serviceHost: (service) => serviceHost(namespace, service),
    });
    return 'server' in target ? target.server : nowhere;
  }
}
