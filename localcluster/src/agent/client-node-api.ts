/** What a node asks of the API server, over a client of its own. */
import { type Client, type EventRecorder, NotFoundError, pathOf } from '@slurm-operator/kube';
import {
  claims,
  configMaps,
  type DataObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodStatus,
  pods,
  type Service,
  secrets,
  serviceAccounts,
  volumes,
} from '../objects/objects.ts';
import type { TokenRequest } from './volumes/payload.ts';

/** What a node asks of the API server. Reads of configuration are remembered for a while, as a real node does. */
export interface NodeApi {
  configMap(namespace: string, name: string, maxAgeMs: number): Promise<DataObject | undefined>;
  secret(namespace: string, name: string, maxAgeMs: number): Promise<DataObject | undefined>;
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>;
  volume(name: string): Promise<PersistentVolume | undefined>;
  token(pod: Pod, request: TokenRequest): Promise<{ token: string; expiresAt: number }>;
  services(): readonly Service[];
  patchStatus(pod: Pod, status: PodStatus): Promise<Pod>;
  /** Says that nothing of the pod is left on this node. */
  confirmDeletion(pod: Pod): Promise<void>;
  event(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void;
}

export interface ClientNodeApiOptions {
  readonly client: Client;
  readonly recorder: EventRecorder;
  readonly services: () => readonly Service[];
  readonly now: () => number;
}

/** No object read is kept longer than this, so that the memory is bounded by what pods use. */
const forgetAfterMs = 300_000;

export function clientNodeApi({ client, recorder, services, now }: ClientNodeApiOptions): NodeApi {
  const known = new Map<string, { object: DataObject | undefined; at: number }>();
  const read = async (resource: typeof configMaps, namespace: string, name: string, maxAgeMs: number) => {
    const key = `${resource.plural}/${namespace}/${name}`;
    const cached = known.get(key);
    if (cached !== undefined && cached.object !== undefined && now() - cached.at < maxAgeMs)
      return cached.object;
    const object = await client.find(resource, { namespace, name }, { timeout: 10_000 });
    known.set(key, { object, at: now() });
    for (const [other, { at }] of known) if (now() - at > forgetAfterMs) known.delete(other);
    return object;
  };
  return {
    configMap: (namespace, name, maxAgeMs) => read(configMaps, namespace, name, maxAgeMs),
    secret: (namespace, name, maxAgeMs) => read(secrets, namespace, name, maxAgeMs),
    claim: (namespace, name) => client.find(claims, { namespace, name }, { timeout: 10_000 }),
    volume: (name) => client.find(volumes, { name }, { timeout: 10_000 }),
    async token(pod, { audience, expirationSeconds }) {
      const { namespace, name, uid } = pod.metadata;
      const account = pod.spec.serviceAccountName ?? 'default';
      const answer = await client.json<{ status: { token: string; expirationTimestamp: string } }>(
        'POST',
        pathOf(serviceAccounts, { namespace, name: account, subresource: 'token' }),
        {
          body: {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              ...(audience === '' ? {} : { audiences: [audience] }),
              expirationSeconds,
              boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
            },
          },
          timeout: 10_000,
        },
      );
      return { token: answer.status.token, expiresAt: Date.parse(answer.status.expirationTimestamp) };
    },
    services,
    async patchStatus(pod: Pod, status: PodStatus) {
      return client.patch(
        pods,
        pod.metadata,
        { type: 'strategic', body: { metadata: { uid: pod.metadata.uid }, status: statusPatch(status) } },
        { subresource: 'status', timeout: 15_000 },
      );
    },
    async confirmDeletion(pod) {
      await client
        .delete(pods, pod.metadata, { uid: pod.metadata.uid, gracePeriodSeconds: 0, timeout: 15_000 })
        .catch((error: unknown) => {
          if (!(error instanceof NotFoundError)) throw error;
        });
    },
    event: (pod, type, reason, note) => recorder.record({ regarding: pod, type, reason, note }),
  };
}

/** Addresses are lists that merge by address: a pod whose sandbox was made again would keep its old one beside the new. */
export function statusPatch(status: PodStatus): object {
  const whole = (list: readonly object[] | undefined) => list && [{ $patch: 'replace' }, ...list];
  return { ...status, podIPs: whole(status.podIPs), hostIPs: whole(status.hostIPs) };
}
