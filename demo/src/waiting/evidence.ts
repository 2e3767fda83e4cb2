/** What a cluster knows about an installation that is not complete: the objects that a cause can be read from. */
import { conditionType } from '@slurm-operator/api';
import {
  type AnyResource,
  type Client,
  type Condition,
  type DeepReadonly,
  type Deployment,
  deployments,
  type Event,
  events,
  findCondition,
  type KubeObject,
  NotFoundError,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type ReplicaSet,
  type Resource,
  replicaSets,
  type StatefulSet,
  statefulSets,
} from '@slurm-operator/kube';
import { everyKind } from '@slurm-operator/operator';

export interface ObservedObject {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly isReady: boolean;
  /** The reason and message of the Ready condition; undefined while there is none for the current spec. */
  readonly message: string | undefined;
  /** The Degraded condition is True: this does not pass without help. */
  readonly isDegraded: boolean;
}

/** A ReplicaSet or StatefulSet. */
export interface PodCreator {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** It has all the pods that it wants. */
  readonly isComplete: boolean;
}

export interface Evidence {
  readonly objects: readonly ObservedObject[];
  readonly creators: readonly PodCreator[];
  readonly deployments: readonly DeepReadonly<Deployment>[];
  readonly pods: readonly DeepReadonly<Pod>[];
  readonly claims: readonly DeepReadonly<PersistentVolumeClaim>[];
  readonly events: readonly DeepReadonly<Event>[];
}

export async function gatherEvidence(client: Client, namespaces: readonly string[]): Promise<Evidence> {
  const all = async <T extends KubeObject>(resource: Resource<T>) =>
    (await Promise.all(namespaces.map((namespace) => listServed(client, resource, namespace)))).flat();
  const objects: ObservedObject[] = [];
  for (const resource of everyKind)
    for (const object of await all(resource as Resource)) objects.push(observe(resource, object));
  return {
    objects,
    creators: [
      ...(await all(replicaSets)).map((set) => observeCreator('ReplicaSet', set)),
      ...(await all(statefulSets)).map((set) => observeCreator('StatefulSet', set)),
    ],
    deployments: await all(deployments),
    pods: await all(pods),
    claims: await all(persistentVolumeClaims),
    events: await all(events),
  };
}

/** A kind that is not served yet has no objects. */
async function listServed<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  namespace: string,
): Promise<readonly DeepReadonly<T>[]> {
  try {
    return (await client.list(resource, { namespace })).items;
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

function observeCreator(
  kind: string,
  { metadata, spec, status }: DeepReadonly<ReplicaSet | StatefulSet>,
): PodCreator {
  const isCurrent = status?.observedGeneration === metadata.generation;
  return {
    kind,
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    isComplete: isCurrent && (status?.replicas ?? 0) >= (spec?.replicas ?? 1),
  };
}

function observe({ kind }: AnyResource, object: DeepReadonly<KubeObject>): ObservedObject {
  const ready = currentCondition(object, conditionType.ready);
  const { status } = object as { status?: { conditions?: Parameters<typeof findCondition>[0] } };
  return {
    kind,
    name: object.metadata.name,
    namespace: object.metadata.namespace ?? '',
    isReady: ready?.status === 'True',
    message: ready === undefined ? undefined : `${ready.reason}: ${ready.message}`,
    isDegraded: findCondition(status?.conditions, conditionType.degraded)?.status === 'True',
  };
}

/** The Cluster is made by the operator, from the Controller. */
export const isEverythingReady = ({ objects }: Evidence): boolean =>
  objects.some(({ kind }) => kind === 'Cluster') && objects.every(({ isReady }) => isReady);
/** A condition of an object; undefined while its status is about an older spec. */
export function currentCondition(
  object: { readonly metadata: { readonly generation?: number | undefined } },
  type: string,
): Condition | undefined {
  const { status } = object as { status?: { observedGeneration?: number; conditions?: Condition[] } };
  return status?.observedGeneration === object.metadata.generation
    ? findCondition(status?.conditions, type)
    : undefined;
}
