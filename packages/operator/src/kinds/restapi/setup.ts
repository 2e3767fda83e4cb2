/** Which changes make a RestApi be looked at. */
import { deployments, type Manager, services } from '@slurm-operator/kube';
import { controllers, restApis } from '../../cache/resources.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import { restApiReconciler } from './reconciler.ts';

export function setupRestApis(
  manager: Manager,
  defaults: OperatorDefaults,
  options: { workers: number },
): void {
  manager
    .controller('restapi-controller')
    .for(restApis)
    .owns(deployments)
    .owns(services)
    .watches(controllers, ({ metadata }) =>
      manager.cache
        .list(restApis, { namespace: metadata.namespace })
        .filter(({ spec }) => spec.controllerRef.name === metadata.name)
        .map((one) => one.metadata),
    )
    .options({ workers: options.workers })
    .reconcile(restApiReconciler(manager, defaults));
}
