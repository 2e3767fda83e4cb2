/** Which changes trigger a reconcile of a Cluster. */
import { generationChanged, type Manager, type ObjectRef, secrets } from '@slurm-operator/kube';
import { accountings, clusters, controllers, loginSets, nodeSets, restApis } from '../../cache/resources.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import { type ClusterOptions, clusterReconciler } from './reconciler.ts';

export function setupClusters(
  manager: Manager,
  pool: ConnectionPool,
  options: ClusterOptions & { readonly workers: number },
): void {
  const { cache } = manager;
  const of = (namespace: string, controller: string | undefined): ObjectRef[] =>
    cache
      .list(clusters, { namespace })
      .filter(({ spec }) => controller !== undefined && spec.controllerRef?.name === controller)
      .map(({ metadata }) => metadata);
  const ofRef = ({
    metadata,
    spec,
  }: {
    readonly metadata: { readonly namespace: string };
    readonly spec: { readonly controllerRef: { readonly name: string } };
  }) => of(metadata.namespace, spec.controllerRef.name);
  manager
    .controller('slurmclient-controller')
    // Our own status must not trigger us: it changes with every list of a busy Slurm.
    .for(clusters, { predicate: generationChanged })
    .watches(controllers, ({ metadata }) => of(metadata.namespace, metadata.name))
    .watches(restApis, ofRef)
    .watches(nodeSets, ofRef)
    .watches(loginSets, ofRef)
    .watches(accountings, ({ metadata }) =>
      cache
        .list(controllers, { namespace: metadata.namespace })
        .filter(({ spec }) => spec.accountingRef?.name === metadata.name)
        .flatMap((one) => of(metadata.namespace, one.metadata.name)),
    )
    .watches(secrets, ({ metadata: { namespace = '', name } }) => {
      const keys = cache
        .list(controllers, { namespace })
        .filter(({ spec }) => (spec.jwtKeyRef ?? spec.jwtHs256KeyRef)?.name === name)
        .flatMap((one) => of(namespace, one.metadata.name));
      const tokens = cache
        .list(clusters, { namespace })
        .filter(({ spec }) => (spec.tokenSecretRef ?? spec.token?.secretRef)?.name === name)
        .map(({ metadata }) => metadata);
      return [...keys, ...tokens];
    })
    .source(pool.news)
    .options({ workers: options.workers })
    .reconcile(clusterReconciler(manager, pool, options));
}
