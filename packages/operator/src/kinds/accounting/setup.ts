/** Which changes make an Accounting be looked at. */
import { app, resourceName } from '@slurm-operator/api';
import { configMaps, type Manager, secrets, services, statefulSets } from '@slurm-operator/kube';
import { accountings, clusters, controllers } from '../../cache/resources.ts';
import { watchPods } from '../../framework/status/watch-pods.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import { accountingReconciler } from './reconciler.ts';

export function setupAccountings(
  manager: Manager,
  defaults: OperatorDefaults,
  options: { workers: number },
): void {
  const builder = manager
    .controller('accounting-controller')
    .for(accountings)
    .owns(statefulSets)
    .owns(services)
    .owns(secrets)
    .watches(secrets, ({ metadata: { namespace, name } }) =>
      manager.cache
        .list(accountings, { namespace })
        .filter(({ spec }) =>
          [spec.slurmKeyRef, spec.jwtKeyRef, spec.jwtHs256KeyRef, spec.storageConfig?.passwordKeyRef].some(
            (ref) => ref?.name === name,
          ),
        )
        .map(({ metadata }) => metadata),
    )
    // The keys in force of a Controller that uses it.
    .watches(secrets, ({ metadata: { namespace, name } }) =>
      manager.cache
        .list(controllers, { namespace })
        .filter(({ metadata }) => resourceName.slurmKeys(metadata.name) === name)
        .flatMap(({ spec }) =>
          spec.accountingRef?.name ? [{ namespace, name: spec.accountingRef.name }] : [],
        ),
    )
    .watches(controllers, ({ metadata: { namespace }, spec }) =>
      spec.accountingRef?.name ? [{ namespace, name: spec.accountingRef.name }] : [],
    )
    .watches(configMaps, ({ metadata: { namespace, name } }) =>
      manager.cache
        .list(accountings, { namespace })
        .filter(({ spec }) => spec.jwksKeyRef?.name === name)
        .map(({ metadata }) => metadata),
    )
    // What Slurm hears when it asks for accounting is in the conditions of its Cluster.
    .watches(clusters, ({ metadata: { namespace }, spec }) => {
      const controller = manager.cache.get(controllers, { namespace, name: spec.controllerRef?.name ?? '' });
      const name = controller?.spec.accountingRef?.name;
      return name === undefined ? [] : [{ namespace, name }];
    });
  watchPods(builder, manager.cache, [app.accounting])
    .options({ workers: options.workers })
    .reconcile(accountingReconciler(manager, defaults));
}
