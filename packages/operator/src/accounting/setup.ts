/** Which changes make an Accounting be looked at. */
import { app, label } from '@slurm-operator/api';
import { type Manager, pods, secrets, services, statefulSets } from '@slurm-operator/kube';
import type { Surroundings } from '../builders/surroundings.ts';
import { accountings } from '../resources.ts';
import { AccountingReconciler } from './reconciler.ts';

export function setupAccountings(manager: Manager, around: Surroundings, options: { workers: number }): void {
  const reconciler = new AccountingReconciler(manager, around);
  manager
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
    .watches(pods, ({ metadata }) =>
      metadata.labels?.[label.name] === app.accounting
        ? [{ namespace: metadata.namespace, name: metadata.labels[label.instance] ?? '' }]
        : [],
    )
    .options({ workers: options.workers })
    .reconcile(reconciler.reconcile);
}
