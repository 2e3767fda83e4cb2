/** Everything that the decision about a Controller needs, from caches. */
import {
  type Accounting,
  annotation,
  type Cluster,
  type Controller,
  type NodeSet,
  resourceName,
} from '@slurm-operator/api';
import { type Cache, type Live, pods, statefulSets } from '@slurm-operator/kube';
import { trialAnnotation, trialName } from '../builders/controller/config-check.ts';
import { referencedConfigMaps } from '../builders/controller/stateful-set.ts';
import { type Digests, digestsOf } from '../key-troubles.ts';
import { type WorkerKey, workerKeys } from '../keys/slurm-key.ts';
import { accountings, clusters, nodeSets } from '../resources.ts';
import { type PodFacts, podsOf } from '../status/pods.ts';
import type { Trial } from './trial.ts';

export interface ObservedController {
  readonly controller: Live<Controller>;
  readonly nodeSets: readonly Live<NodeSet>[];
  readonly accounting: Live<Accounting> | undefined;
  readonly cluster: Live<Cluster> | undefined;
  readonly secrets: readonly Digests[];
  readonly configMaps: readonly Digests[];
  readonly pods: readonly PodFacts[];
  readonly trial: Trial | undefined;
  readonly workers: readonly WorkerKey[];
  readonly statefulSet: {
    readonly exists: boolean;
    readonly updating: boolean;
    /** The revision that pods should have. */
    readonly revision: string | undefined;
    /** The digest of slurm.key that pods are started with. */
    readonly slurmKey: string | undefined;
  };
}

export function observeController(cache: Cache, controller: Live<Controller>): ObservedController {
  const { namespace, name } = controller.metadata;
  const { slurmKeyRef, jwtKeyRef, jwtHs256KeyRef, jwksKeyRef, accountingRef } = controller.spec;
  const secretNames = [slurmKeyRef?.name, (jwtKeyRef ?? jwtHs256KeyRef)?.name];
  const mapNames = [...referencedConfigMaps(controller), jwksKeyRef?.name];
  const set = cache.get(statefulSets, { namespace, name: resourceName.controller(name) });
  return {
    controller,
    nodeSets: cache
      .list(nodeSets, { namespace })
      .filter((one) => one.spec.controllerRef.name === name && one.metadata.deletionTimestamp === undefined),
    accounting: accountingRef?.name
      ? cache.get(accountings, { namespace, name: accountingRef.name })
      : undefined,
    cluster: cache.get(clusters, { namespace, name: resourceName.cluster(name) }),
    secrets: unique(secretNames).map((one) => digestsOf(cache, 'Secret', namespace, one)),
    configMaps: unique(mapNames).map((one) => digestsOf(cache, 'ConfigMap', namespace, one)),
    pods: podsOf(cache, 'controller', namespace, name),
    trial: trialOf(cache, namespace, name),
    statefulSet: {
      exists: set !== undefined,
      updating:
        set === undefined ||
        set.status?.observedGeneration !== set.metadata.generation ||
        (set.status?.updatedReplicas ?? 0) < (set.spec?.replicas ?? 1),
      revision:
        set?.status?.observedGeneration === set?.metadata.generation
          ? set?.status?.updateRevision
          : undefined,
      slurmKey: set?.spec?.template.metadata?.annotations?.[annotation.slurmKeyHash],
    },
    workers: workerKeys(cache, controller),
  };
}

const unique = (names: readonly (string | undefined)[]): string[] => [
  ...new Set(names.filter((name): name is string => name !== undefined && name !== '')),
];

function trialOf(cache: Cache, namespace: string, controller: string): Trial | undefined {
  const pod = cache.get(pods, { namespace, name: trialName(controller) });
  if (pod === undefined) return undefined;
  const ended = pod.status?.containerStatuses?.[0]?.state?.terminated;
  return {
    digest: pod.metadata.annotations?.[trialAnnotation] ?? '',
    uid: pod.metadata.uid,
    phase: pod.status?.phase ?? 'Pending',
    message: ended?.message?.trim().replaceAll(/\s+/g, ' ').slice(0, 1000) || pod.status?.message,
    terminating: pod.metadata.deletionTimestamp !== undefined,
  };
}
