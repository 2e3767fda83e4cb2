/** Which changes make a LoginSet be looked at. */
import { app, resourceName } from '@slurm-operator/api';
import {
  configMaps,
  deployments,
  type Manager,
  type ObjectRef,
  secrets,
  services,
} from '@slurm-operator/kube';
import { controllers, loginSets } from '../../cache/resources.ts';
import { watchPods } from '../../framework/status/watch-pods.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import { loginSetReconciler } from './reconciler.ts';

export function setupLoginSets(
  manager: Manager,
  defaults: OperatorDefaults,
  options: { workers: number },
): void {
  const { cache } = manager;
  const of = (namespace: string | undefined, controller: string): ObjectRef[] =>
    cache
      .list(loginSets, { namespace })
      .filter(({ spec }) => spec.controllerRef.name === controller)
      .map(({ metadata }) => metadata);
  const builder = manager
    .controller('loginset-controller')
    .for(loginSets)
    .owns(deployments)
    .owns(services)
    .owns(configMaps)
    .owns(secrets)
    .watches(controllers, ({ metadata }) => of(metadata.namespace, metadata.name))
    .watches(secrets, ({ metadata: { namespace, name } }) => [
      ...cache
        .list(loginSets, { namespace })
        .filter(({ spec }) => spec.sssdConfRef.name === name)
        .map(({ metadata }) => metadata),
      ...cache
        .list(controllers, { namespace })
        .filter(({ metadata, spec }) =>
          [spec.slurmKeyRef?.name, resourceName.slurmKeys(metadata.name)].includes(name),
        )
        .flatMap(({ metadata }) => of(namespace, metadata.name)),
    ]);
  watchPods(builder, manager.cache, [app.login])
    .options({ workers: options.workers })
    .reconcile(loginSetReconciler(manager, defaults));
}
