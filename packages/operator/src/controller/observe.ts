/** Everything that the decision about a Controller needs, from caches. */
import {
  type Accounting,
  type Cluster,
  type Controller,
  label,
  type NodeSet,
  resourceName,
} from '@slurm-operator/api';
import {
  type Cache,
  configMaps,
  type Live,
  pods,
  type Secret,
  secrets,
  statefulSets,
} from '@slurm-operator/kube';
import { referencedConfigMaps } from '../builders/controller/stateful-set.ts';
import { selectorLabels } from '../builders/labels.ts';
import { accountings, clusters, nodeSets } from '../resources.ts';

/** What is known of a Secret or ConfigMap: the digest of each value, never the value. */
export interface Digests {
  readonly name: string;
  /** Undefined while the object does not exist. */
  readonly keys: Readonly<Record<string, string>> | undefined;
}

export interface PodFacts {
  readonly name: string;
  readonly ready: boolean;
  readonly configSeen: string | undefined;
  /** Why a container does not run, in Kubernetes' word. */
  readonly waiting: string | undefined;
  readonly waitingMessage: string | undefined;
}

export interface ObservedController {
  readonly controller: Live<Controller>;
  readonly nodeSets: readonly Live<NodeSet>[];
  readonly accounting: Live<Accounting> | undefined;
  readonly cluster: Live<Cluster> | undefined;
  readonly secrets: readonly Digests[];
  readonly configMaps: readonly Digests[];
  readonly pods: readonly PodFacts[];
  readonly statefulSet: { readonly exists: boolean; readonly updating: boolean };
}

/** Says, on a slurmctld pod, which configuration it was last touched for. */
export const configSeenAnnotation = 'controller.slinky.slurm.net/config-seen';

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
    secrets: unique(secretNames).map((one) => digests(one, cache.get(secrets, { namespace, name: one }))),
    configMaps: unique(mapNames).map((one) => digests(one, cache.get(configMaps, { namespace, name: one }))),
    pods: podFacts(cache, namespace, name),
    statefulSet: {
      exists: set !== undefined,
      updating:
        set === undefined ||
        set.status?.observedGeneration !== set.metadata.generation ||
        (set.status?.updatedReplicas ?? 0) < (set.spec?.replicas ?? 1),
    },
  };
}

const unique = (names: readonly (string | undefined)[]): string[] => [
  ...new Set(names.filter((name): name is string => name !== undefined && name !== '')),
];

function digests(name: string, object: Pick<Live<Secret>, 'data'> | undefined): Digests {
  return { name, keys: object === undefined ? undefined : (object.data ?? {}) };
}

function podFacts(cache: Cache, namespace: string, controller: string): PodFacts[] {
  const wanted = Object.entries(selectorLabels('controller', controller));
  return cache
    .list(pods, { namespace })
    .filter((pod) => wanted.every(([key, value]) => pod.metadata.labels?.[key] === value))
    .filter((pod) => pod.metadata.deletionTimestamp === undefined && pod.metadata.labels?.[label.component])
    .map((pod) => {
      const waiting = pod.status?.containerStatuses
        ?.map((one) => one.state?.waiting)
        .find((one) => one?.reason);
      return {
        name: pod.metadata.name,
        ready: pod.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false,
        configSeen: pod.metadata.annotations?.[configSeenAnnotation],
        waiting: waiting?.reason,
        waitingMessage: waiting?.message,
      };
    });
}
