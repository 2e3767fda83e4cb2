/** Which changes make a Controller be looked at. */
import { app, label, resourceName } from '@slurm-operator/api';
import {
  configMaps,
  type Manager,
  type ObjectRef,
  persistentVolumeClaims,
  pods,
  secrets,
  services,
  statefulSets,
} from '@slurm-operator/kube';
import { accountings, clusters, controllers, digestData, nodeSets } from '../../cache/resources.ts';
import { controllerOfWorker, workerEndedOrRecovered } from '../../framework/status/ended-workers.ts';
import { watchPods } from '../../framework/status/watch-pods.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import type { SlurmSurvey } from '../../slurm-config/guard/slurm-work.ts';
import { referencedConfigMaps } from '../../slurm-config/render/config-map.ts';
import { controllerReconciler } from './reconciler.ts';

export interface ControllerSetup {
  readonly workers: number;
  readonly survey: SlurmSurvey;
}

export function setupControllers(
  manager: Manager,
  defaults: OperatorDefaults,
  options: ControllerSetup,
): void {
  const { cache } = manager;
  const inNamespace = (namespace: string | undefined) =>
    cache.list(controllers, namespace === undefined ? {} : { namespace });
  const usingSecret = (namespace: string | undefined, name: string): ObjectRef[] =>
    inNamespace(namespace)
      .filter(
        ({ metadata, spec }) =>
          resourceName.slurmKeys(metadata.name) === name ||
          [spec.slurmKeyRef, spec.jwtKeyRef, spec.jwtHs256KeyRef].some((ref) => ref?.name === name),
      )
      .map(({ metadata }) => metadata);
  const usingConfigMap = (namespace: string | undefined, name: string): ObjectRef[] =>
    inNamespace(namespace)
      .filter((one) => referencedConfigMaps(one).includes(name) || one.spec.jwksKeyRef?.name === name)
      .map(({ metadata }) => metadata);
  const usingAccounting = (namespace: string | undefined, name: string): ObjectRef[] =>
    inNamespace(namespace)
      .filter(({ spec }) => spec.accountingRef?.name === name)
      .map(({ metadata }) => metadata);
  const builder = manager
    .controller('controller-controller')
    .for(controllers)
    .owns(statefulSets)
    .owns(services)
    .owns(configMaps)
    .owns(clusters)
    .watches(configMaps, (map) => usingConfigMap(map.metadata.namespace, map.metadata.name), {
      cache: { transform: digestData },
    })
    .watches(secrets, (secret) => usingSecret(secret.metadata.namespace, secret.metadata.name), {
      cache: { transform: digestData },
    })
    .watches(nodeSets, ({ metadata, spec }) => [
      { namespace: metadata.namespace, name: spec.controllerRef.name },
    ])
    .watches(accountings, ({ metadata }) => usingAccounting(metadata.namespace, metadata.name))
    .watches(persistentVolumeClaims, ({ metadata: { namespace, labels } }) => {
      const name = labels?.[label.name] === app.controller ? labels[label.instance] : undefined;
      return name === undefined ? [] : [{ namespace, name }];
    })
    // A slurmctld may wait for the upgrade of its slurmdbd.
    .watches(statefulSets, ({ metadata }) => {
      const owner = metadata.ownerReferences?.find(({ kind }) => kind === accountings.kind);
      return owner === undefined ? [] : usingAccounting(metadata.namespace, owner.name);
    });
  builder.watches(pods, controllerOfWorker, { predicate: workerEndedOrRecovered });
  watchPods(builder, manager.cache, [app.controller, 'config-check'])
    .options({ workers: options.workers })
    .reconcile(controllerReconciler(manager, defaults, options.survey));
}
