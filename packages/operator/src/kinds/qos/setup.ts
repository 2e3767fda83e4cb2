/** Which changes trigger a reconcile of a QualityOfService. */
import type { QualityOfService } from '@slurm-operator/api';
import type { Live, Manager, ObjectRef } from '@slurm-operator/kube';
import { accountings, clusters, controllers, qualitiesOfService } from '../../cache/resources.ts';
import { rowName } from './fields.ts';
import { type QosOptions, qosReconciler } from './reconciler.ts';

export function setupQualitiesOfService(
  manager: Manager,
  { workers, ...options }: QosOptions & { readonly workers: number },
): void {
  const { cache } = manager;
  const objects = (namespace: string, isMeant: (qos: Live<QualityOfService>) => boolean): ObjectRef[] =>
    cache
      .list(qualitiesOfService, { namespace })
      .filter(isMeant)
      .map(({ metadata }) => metadata);
  const of = (namespace: string, accounting: string | undefined) =>
    objects(namespace, ({ spec }) => spec.accountingRef.name === accounting);
  manager
    .controller('qualityofservice-controller')
    .for(qualitiesOfService)
    // The row that another one preempts, or that an older object declared.
    .watches(qualitiesOfService, (changed) => {
      const name = rowName(changed);
      return objects(
        changed.metadata.namespace,
        (qos) =>
          qos.metadata.uid !== changed.metadata.uid &&
          (rowName(qos) === name || (qos.spec.preempts ?? []).includes(name)),
      );
    })
    .watches(accountings, ({ metadata: { namespace, name } }) => of(namespace, name))
    .watches(controllers, ({ metadata: { namespace }, spec }) => of(namespace, spec.accountingRef?.name))
    // Its connection was opened, or its database is back.
    .watches(clusters, ({ metadata: { namespace }, spec }) => {
      const controller = cache.get(controllers, { namespace, name: spec.controllerRef?.name ?? '' });
      return of(namespace, controller?.spec.accountingRef?.name);
    })
    .options({ workers })
    .reconcile(qosReconciler(manager, options));
}
