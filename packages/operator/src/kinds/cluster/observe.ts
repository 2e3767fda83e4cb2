/** What the plan and the status of a Cluster are made from. Reads Kubernetes, and changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import { type Cluster, conditionType } from '@slurm-operator/api';
import { configMaps, type Live, type Manager, type ObjectKey, secrets, services } from '@slurm-operator/kube';
import { accountings, controllers, loginSets, nodeSets, restApis } from '../../cache/resources.ts';
import { Sensitive } from '../../framework/actions.ts';
import type { Observing } from '../../framework/define-reconciler.ts';
import { type Credential, fingerprint } from '../../slurm-connection/credential.ts';
import type { Failure } from '../../slurm-connection/failure.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import { resolveTarget, type Target } from '../../slurm-connection/target.ts';
import type { ClusterMemory } from './plan.ts';

export interface ConnectionSettings {
  /** How the operator reaches Services: by name in the cluster, by address from outside. */
  readonly reachBy: 'name' | 'address';
  readonly clusterDomain: string;
}

/** An object of the same cluster that is not ready. */
export interface UnreadyObject {
  readonly kind: string;
  readonly name: string;
  readonly message: string;
}

/** What a connection to Slurm is opened with. */
export interface Endpoint {
  readonly target: Target;
  readonly credential: Sensitive<Credential>;
  /** Names server, credential and certificates; never holds them. */
  readonly fingerprint: string;
}

export interface ObservedCluster {
  readonly endpoint: Endpoint | Failure;
  /** Of the connection that is open. */
  readonly openFingerprint: string | undefined;
  /** The nodes are known through it. */
  readonly isListed: boolean;
  readonly hasAccounting: boolean;
  /** The version of Slurm that answered last; undefined: none ever did. */
  readonly lastVersion: string | undefined;
  readonly unready: readonly UnreadyObject[];
  readonly memory: ClusterMemory;
  /** From 0 to 1: so that the operators of many clusters do not retry at the same moment. */
  readonly jitter: number;
}

export class ClusterObserver {
  readonly #manager: Pick<Manager, 'cache' | 'client'>;
  readonly #pool: ConnectionPool;
  readonly #settings: ConnectionSettings;
  readonly #read = new Map<ObjectKey, { readonly endpoint: Endpoint; readonly digests: string }>();

  constructor(
    manager: Pick<Manager, 'cache' | 'client'>,
    pool: ConnectionPool,
    settings: ConnectionSettings,
  ) {
    this.#manager = manager;
    this.#pool = pool;
    this.#settings = settings;
  }

  async observe(
    cluster: Live<Cluster>,
    { memory, random, signal }: Observing<ClusterMemory>,
  ): Promise<ObservedCluster> {
    return {
      endpoint:
        (memory.isConnected ? this.#unchangedEndpoint(cluster) : undefined) ??
        (await this.readEndpoint(cluster, signal)),
      openFingerprint: this.#pool.fingerprintOf(keyOf(cluster)),
      isListed: this.#pool.get(keyOf(cluster))?.gateway.view().kind === 'known',
      hasAccounting: Boolean(this.#controllerOf(cluster)?.spec.accountingRef?.name),
      lastVersion: cluster.status?.slurmVersion,
      unready: this.#unready(cluster),
      memory,
      jitter: random(),
    };
  }

  forget(key: ObjectKey): void {
    this.#read.delete(key);
  }

  /**
   * Of the open connection, as long as caches show the same digests of its Secret and its certificates. Nothing is kept beyond what the
   * connection itself holds.
   */
  #unchangedEndpoint(cluster: Live<Cluster>): Endpoint | undefined {
    const key = keyOf(cluster);
    const read = this.#read.get(key);
    if (read === undefined) return undefined;
    const target = this.#target(cluster);
    const isSame =
      !('class' in target) &&
      this.#pool.fingerprintOf(key) === read.endpoint.fingerprint &&
      isDeepStrictEqual(target, read.endpoint.target) &&
      this.#digestsOf(cluster, target) === read.digests;
    if (isSame) return read.endpoint;
    this.forget(key);
    return undefined;
  }

  /** Undefined while a cache does not show them. */
  #digestsOf({ metadata: { namespace } }: Live<Cluster>, { credential, ca }: Target): string | undefined {
    const { cache } = this.#manager;
    const { name, key } = credential.secret;
    const secret = cache.get(secrets, { namespace, name })?.data?.[key];
    const certificates =
      ca === undefined ? '' : cache.get(configMaps, { namespace, name: ca.name })?.data?.[ca.key];
    return secret === undefined || certificates === undefined ? undefined : `${secret} ${certificates}`;
  }

  /** Read from the API server: caches hold digests only. */
  async readEndpoint(cluster: Live<Cluster>, signal: AbortSignal): Promise<Endpoint | Failure> {
    const target = this.#target(cluster);
    // Before they are read: what changes meanwhile is read again.
    const digests = 'class' in target ? undefined : this.#digestsOf(cluster, target);
    if ('class' in target) return target;
    const { client } = this.#manager;
    const { namespace } = cluster.metadata;
    const { name, key } = target.credential.secret;
    const secret = await client.find(secrets, { namespace, name }, { signal });
    const value = secret?.data?.[key];
    if (value === undefined)
      return missing('SecretNotFound', { kind: 'Secret', name, key, namespace }, secret !== undefined);
    const endpointWith = (ca: string | undefined): Endpoint => {
      const credential = { secret: Buffer.from(value, 'base64'), ca };
      const endpoint = {
        target,
        credential: new Sensitive(credential),
        fingerprint: fingerprint(target, credential),
      };
      if (digests !== undefined) this.#read.set(keyOf(cluster), { endpoint, digests });
      return endpoint;
    };
    if (target.ca === undefined) return endpointWith(undefined);
    const map = await client.find(configMaps, { namespace, name: target.ca.name }, { signal });
    const ca = map?.data?.[target.ca.key];
    if (ca !== undefined) return endpointWith(ca);
    return missing('ConfigMapNotFound', { kind: 'ConfigMap', ...target.ca, namespace }, map !== undefined);
  }

  #target(cluster: Live<Cluster>): Target | Failure {
    const { cache } = this.#manager;
    const { namespace } = cluster.metadata;
    return resolveTarget(cluster, {
      controller: this.#controllerOf(cluster),
      restApis: cache.list(restApis, { namespace }),
      serviceHost: (service) => {
        const byName = `${service}.${namespace}.svc.${this.#settings.clusterDomain}`;
        if (this.#settings.reachBy === 'name') return byName;
        return cache.get(services, { namespace, name: service })?.spec?.clusterIP ?? byName;
      },
    });
  }

  #controllerOf({ metadata: { namespace }, spec }: Live<Cluster>) {
    const name = spec.controllerRef?.name;
    return name === undefined ? undefined : this.#manager.cache.get(controllers, { namespace, name });
  }

  /** The objects of the same cluster that report that they are not ready. */
  #unready(cluster: Live<Cluster>): UnreadyObject[] {
    const { cache } = this.#manager;
    const { namespace } = cluster.metadata;
    const name = cluster.spec.controllerRef?.name;
    if (name === undefined) return [];
    const controller = this.#controllerOf(cluster);
    const accounting = controller?.spec.accountingRef?.name;
    const of = <T extends { readonly spec: { readonly controllerRef: { readonly name: string } } }>(
      all: readonly T[],
    ): T[] => all.filter((one) => one.spec.controllerRef.name === name);
    const objects = [
      ...(controller === undefined ? [] : [controller]),
      ...of(cache.list(restApis, { namespace })),
      ...of(cache.list(nodeSets, { namespace })),
      ...of(cache.list(loginSets, { namespace })),
      ...cache.list(accountings, { namespace }).filter((one) => one.metadata.name === accounting),
    ];
    return objects.flatMap(({ kind, metadata, status }) => {
      const ready = status?.conditions?.find((one) => one.type === conditionType.ready);
      return ready?.status === 'False' ? [{ kind, name: metadata.name, message: ready.message }] : [];
    });
  }
}

/** The key of the Cluster in the pool of connections. */
export const keyOf = ({ metadata: { namespace, name } }: Live<Cluster>): ObjectKey => `${namespace}/${name}`;

function missing(
  reason: 'SecretNotFound' | 'ConfigMapNotFound',
  { kind, name, key, namespace }: Readonly<Record<'kind' | 'name' | 'key' | 'namespace', string>>,
  exists: boolean,
): Failure {
  const message = exists
    ? `${kind} ${name} in namespace ${namespace} has no key "${key}": add it.`
    : `there is no ${kind} ${name} in namespace ${namespace}: create it.`;
  return { class: 'configuration', reason, message };
}
