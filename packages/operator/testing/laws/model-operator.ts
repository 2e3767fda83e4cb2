/** One life of the operator: the product's own reconcilers of Controller and NodeSet on the simulated world. A crash is a new one. */
import {
  type AnyResource,
  Cache,
  type Clock,
  configMaps,
  controllerRevisions,
  nodes,
  OwnedApplier,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ReconcileContext,
  secrets,
  services,
  silent,
  statefulSets,
} from '@slurm-operator/kube';
import { Registry } from 'prom-client';
import { accountings, clusters, controllers, loginSets, nodeSets } from '../../src/cache/resources.ts';
import type { Reconcile } from '../../src/framework/define-reconciler.ts';
import { controllerReconciler } from '../../src/kinds/controller/reconciler.ts';
import { nodeSetReconciler } from '../../src/kinds/nodeset/reconciler.ts';
import { setupCache } from '../../src/programs/cached-objects.ts';
import { WorkSurvey } from '../../src/slurm-connection/work-survey.ts';
import { operatorDefaults } from '../objects.ts';
import { MemoryClient, type MemoryKube } from './memory-kube.ts';
import type { ModelConnection } from './model-connection.ts';

const watched: readonly AnyResource[] = [
  secrets,
  configMaps,
  pods,
  nodes,
  persistentVolumeClaims,
  controllerRevisions,
  statefulSets,
  services,
  podDisruptionBudgets,
  nodeSets,
  controllers,
  accountings,
  loginSets,
  clusters,
];

export interface ModelOperatorOptions {
  readonly kube: MemoryKube;
  readonly connection: ModelConnection;
  readonly clock: Clock;
  /** Asked before every write to Kubernetes. */
  readonly spend: () => void;
}

export class ModelOperator {
  readonly #kube: MemoryKube;
  readonly #cache: Cache;
  readonly #context: ReconcileContext;
  readonly #controller: Reconcile;
  readonly #nodeSet: Reconcile;
  /** What its watches have not told it yet: plural. */
  readonly #unseen = new Set<string>(watched.map(({ plural }) => plural));

  constructor({ kube, connection, clock, spend }: ModelOperatorOptions) {
    this.#kube = kube;
    const client = new MemoryClient(kube, spend);
    this.#cache = new Cache(client);
    setupCache(this.#cache);
    for (const resource of watched) this.#cache.informer(resource);
    this.#context = { signal: new AbortController().signal, log: silent, clock };
    // A connection ends with the Cluster that it belongs to.
    const isConnected = () => kube.list('clusters').length > 0;
    const recorder = { record: () => undefined, warning: () => undefined, normal: () => undefined };
    const manager = {
      cache: this.#cache,
      client,
      owned: new OwnedApplier(client, this.#cache),
      recorder,
      metrics: { registry: new Registry() },
    } as never;
    this.#controller = controllerReconciler(
      manager,
      operatorDefaults,
      new WorkSurvey(
        {
          get: () => (isConnected() ? connection : undefined) as never,
          lastPartitions: () => {
            if (!isConnected()) return undefined;
            const last = connection.gateway.lastNodes();
            return last && new Set(last.flatMap(({ partitions }) => partitions));
          },
        },
        clock,
      ),
    );
    this.#nodeSet = nodeSetReconciler(manager, () => (isConnected() ? connection.gateway : undefined), {
      clusterDomain: operatorDefaults.clusterDomain,
      defaultImage: operatorDefaults.images.slurmd,
      propagatedConditions: [],
      nodeEvents: true,
      parallel: 4,
    });
  }

  /** Its watches deliver everything that has changed. */
  catchUp(): void {
    for (const plural of this.#kube.takeChanged()) this.#unseen.add(plural);
    for (const resource of watched) {
      if (!this.#unseen.delete(resource.plural)) continue;
      this.#cache.informer(resource).adopt(this.#kube.list(resource.plural) as never, this.#kube.version);
    }
  }

  /** One reconcile; what it throws is for its queue. */
  async reconcile(kind: 'controller' | 'nodeset', namespace: string, name: string): Promise<void> {
    const request = { key: `${namespace}/${name}`, namespace, name } as never;
    const reconcile = kind === 'controller' ? this.#controller : this.#nodeSet;
    try {
      await reconcile(request, this.#context);
    } catch (error) {
      if (error instanceof TypeError || error instanceof RangeError) throw error;
    }
  }
}
