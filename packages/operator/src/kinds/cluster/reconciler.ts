/**
 * The Cluster controller: keeps one connection per Cluster, finds out whether Slurm answers, and says so.
 * A Cluster has no finalizer: what it holds is memory, gone with it or with this program.
 */
import { type Cluster, conditionType } from '@slurm-operator/api';
import {
  backoffDelay,
  configMaps,
  type Live,
  type Manager,
  type ReconcileContext,
  type Request,
  type Result,
  secrets,
  services,
} from '@slurm-operator/kube';
import { accountings, clusters, controllers, loginSets, nodeSets, restApis } from '../../cache/resources.ts';
import { writeStatus } from '../../framework/status/write-status.ts';
import { askAccounting } from '../../slurm-connection/ask-accounting.ts';
import { expired, fingerprint, tokenProvider } from '../../slurm-connection/credential.ts';
import { classify, type Failure } from '../../slurm-connection/failure.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import type { SlurmConnection, SlurmPatience } from '../../slurm-connection/slurm-connection.ts';
import { resolveTarget, type Target } from '../../slurm-connection/target.ts';
import { type Connected, clusterStatus, type UnreadyObject } from './status.ts';

type Needs = Pick<Manager, 'cache' | 'client'>;

export interface ConnectionSettings {
  /** How the operator reaches Services: by name in the cluster, by address from outside. */
  readonly reachBy: 'name' | 'address';
  readonly clusterDomain: string;
  readonly slurm?: SlurmPatience;
}

/** How often Slurm is pinged while it is healthy. */
const pingPeriod = 10_000;
/** With accounting more often: nothing else tells that slurmdbd has lost its database. */
const accountingPeriod = 5_000;
/** A slurmrestd that cannot reach slurmctld answers after ten seconds; what takes longer is no answer. */
const pingTimeout = 12_000;
/** Soon after a silence that may mean nothing. */
const secondLook = 500;
const usualBackoff = { initial: 1000, limit: 15 * 60_000 };

export class ClusterReconciler {
  readonly #manager: Needs;
  readonly #pool: ConnectionPool;
  readonly #settings: ConnectionSettings;
  /** Clusters whose connection was logged. */
  readonly #connected = new Set<string>();
  readonly #failures = new Map<string, { readonly count: number; readonly tryAgainAt: number }>();

  constructor(manager: Needs, pool: ConnectionPool, settings: ConnectionSettings) {
    this.#manager = manager;
    this.#pool = pool;
    this.#settings = settings;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const { cache, client } = this.#manager;
    const cluster = cache.get(clusters, request);
    if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) {
      this.#failures.delete(request.key);
      this.#connected.delete(request.key);
      return this.#pool.remove(request.key);
    }
    const outcome = await this.#connect(cluster, request.key, context);
    const failed = 'class' in outcome;
    const wait = failed
      ? this.#fail(request.key, context)
      : outcome.accounting?.kind === 'silent'
        ? secondLook
        : outcome.accounting === undefined
          ? pingPeriod
          : accountingPeriod;
    if (failed)
      context.log.warn(
        { reason: outcome.reason, failures: this.#failures.get(request.key)?.count },
        `slurm client: ${outcome.message}`,
      );
    else if (this.#failures.delete(request.key) || !this.#connected.has(request.key)) {
      context.log.info({ server: outcome.server }, 'slurm client: connected');
      this.#connected.add(request.key);
    }
    const { fields, conditions } = clusterStatus(
      outcome,
      this.#unready(cluster),
      this.#hasAccounting(cluster),
    );
    await writeStatus(clusters, cluster, { fields, conditions }, client, context);
    // A wrong object does not become right by asking again: its change wakes us.
    if (failed && outcome.class === 'configuration') return;
    return { requeueAfter: wait };
  };

  /**
   * Counts a failure, and answers how long to wait. Whatever else wakes us before that time may try, too, but what it finds is
   * the same failure: a busy namespace must not push the next try a quarter of an hour away.
   */
  #fail(key: string, { clock }: ReconcileContext): number {
    const now = clock.now();
    const known = this.#failures.get(key);
    if (known !== undefined && now < known.tryAgainAt) return known.tryAgainAt - now;
    const count = (known?.count ?? 0) + 1;
    const wait = backoffDelay(this.#settings.slurm?.backoff ?? usualBackoff, count - 1, clock);
    this.#failures.set(key, { count, tryAgainAt: now + wait });
    return wait;
  }

  #hasAccounting(cluster: Live<Cluster>): boolean {
    const { namespace } = cluster.metadata;
    const name = cluster.spec.controllerRef?.name;
    if (name === undefined) return false;
    return Boolean(this.#manager.cache.get(controllers, { namespace, name })?.spec.accountingRef?.name);
  }

  /** A little more than slurmrestd itself waits for a dead slurmctld, unless told otherwise. */
  get #pingTimeout(): number {
    return Math.min(pingTimeout, this.#settings.slurm?.requestTimeoutMs ?? pingTimeout);
  }

  async #connect(
    cluster: Live<Cluster>,
    key: string,
    context: ReconcileContext,
  ): Promise<Connected | Failure> {
    const target = this.#resolve(cluster);
    if ('class' in target) {
      await this.#pool.remove(key);
      return target;
    }
    const first = await this.#attempt(cluster, target, key, context);
    if (!('class' in first) || first.class !== 'authentication') return first;
    // The key may have been changed a moment ago: read it and sign again, once.
    await this.#pool.remove(key);
    return this.#attempt(cluster, target, key, context);
  }

  async #attempt(
    cluster: Live<Cluster>,
    target: Target,
    key: string,
    context: ReconcileContext,
  ): Promise<Connected | Failure> {
    const { signal } = context;
    const material = await this.#material(cluster, target, signal);
    if ('class' in material) {
      await this.#pool.remove(key);
      return material;
    }
    let connection: SlurmConnection;
    try {
      connection = await this.#pool.use(key, fingerprint(target, material), () => ({
        server: target.server,
        token: tokenProvider(target, material.secret, this.#pool.slurmClock),
        ca: material.ca,
        patience: this.#settings.slurm,
      }));
    } catch (error) {
      return {
        class: 'configuration',
        reason: 'InvalidKey',
        message: `Secret ${target.credential.secret.name}: ${error instanceof Error ? error.message : 'its key cannot be used'}.`,
      };
    }
    try {
      await connection.client.controller.check({ signal, timeoutMs: this.#pingTimeout });
      const askedAt = context.clock.now();
      const diag = await connection.client.controller.diag({ signal, timeoutMs: this.#pingTimeout });
      connection.controllerStart.told(diag.startedAt, askedAt);
      if (diag.time !== undefined) connection.controllerTime(diag.time);
      return {
        server: target.server,
        slurmVersion: connection.client.about.release,
        apiVersion: await connection.client.apiVersion({ signal }),
        view: connection.gateway.view(),
        jobs: connection.jobCounts(),
        accounting: this.#hasAccounting(cluster) ? await askAccounting(connection, signal) : undefined,
      };
    } catch (error) {
      if (signal.aborted) throw error;
      return expired(classify(error, target.server), target, material.secret, context.clock.now());
    }
  }

  #resolve(cluster: Live<Cluster>): Target | Failure {
    const { cache } = this.#manager;
    const { namespace } = cluster.metadata;
    const name = cluster.spec.controllerRef?.name;
    return resolveTarget(cluster, {
      controller: name === undefined ? undefined : cache.get(controllers, { namespace, name }),
      restApis: cache.list(restApis, { namespace }),
      serviceHost: (service) => {
        const byName = `${service}.${namespace}.svc.${this.#settings.clusterDomain}`;
        if (this.#settings.reachBy === 'name') return byName;
        return cache.get(services, { namespace, name: service })?.spec?.clusterIP ?? byName;
      },
    });
  }

  /** Read from the API server each time and not kept: caches hold digests only. */
  async #material(
    cluster: Live<Cluster>,
    target: Target,
    signal: AbortSignal,
  ): Promise<{ readonly secret: Buffer; readonly ca: string | undefined } | Failure> {
    const { client } = this.#manager;
    const { namespace } = cluster.metadata;
    const { name, key } = target.credential.secret;
    const secret = await client.find(secrets, { namespace, name }, { signal });
    const value = secret?.data?.[key];
    if (value === undefined)
      return missing('SecretNotFound', 'Secret', name, key, namespace, secret !== undefined);
    if (target.ca === undefined) return { secret: Buffer.from(value, 'base64'), ca: undefined };
    const map = await client.find(configMaps, { namespace, name: target.ca.name }, { signal });
    const ca = map?.data?.[target.ca.key];
    if (ca === undefined)
      return missing(
        'ConfigMapNotFound',
        'ConfigMap',
        target.ca.name,
        target.ca.key,
        namespace,
        map !== undefined,
      );
    return { secret: Buffer.from(value, 'base64'), ca };
  }

  /** The objects of the same cluster that say that they are not ready. */
  #unready(cluster: Live<Cluster>): UnreadyObject[] {
    const { cache } = this.#manager;
    const { namespace } = cluster.metadata;
    const name = cluster.spec.controllerRef?.name;
    if (name === undefined) return [];
    const controller = cache.get(controllers, { namespace, name });
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

function missing(
  reason: 'SecretNotFound' | 'ConfigMapNotFound',
  kind: string,
  name: string,
  key: string,
  namespace: string,
  exists: boolean,
): Failure {
  const message = exists
    ? `${kind} ${name} in namespace ${namespace} has no key "${key}": add it.`
    : `there is no ${kind} ${name} in namespace ${namespace}: create it.`;
  return { class: 'configuration', reason, message };
}
