/** Runs a program: client, cache, controllers and other runnables, started in order and stopped in reverse order. */
import { hostname } from 'node:os';
import { OwnedApplier } from '../apply/owned-applier.ts';
import { Cache } from '../cache/cache.ts';
import type { ReflectorTuning } from '../cache/reflector.ts';
import { type Client, type ClientOptions, createClient } from '../client/client.ts';
import { aborted, type Clock, systemClock } from '../clock.ts';
import type { ClusterConfig } from '../config/config.ts';
import { loadConfig } from '../config/kubeconfig.ts';
import { ControllerBuilder } from '../controller/builder.ts';
import { Controller } from '../controller/controller.ts';
import { AbortedError } from '../errors.ts';
import { type LeaderElectionOptions, LeaderElector } from '../leader-election/elector.ts';
import { type Log, silent } from '../log.ts';
import { EventRecorder } from '../recorder/recorder.ts';
import { Discovery } from './discovery.ts';
import { Health } from './health.ts';
import { Metrics } from './metrics.ts';
import { RefusedNamespaces } from './refused-namespaces.ts';
import { type LocalRoute, StatusPages, type StatusPagesOptions } from './status-pages.ts';

export interface ManagerOptions extends StatusPagesOptions {
  /** Name of the program: user agent, field manager, identity. */
  readonly name: string;
  /** @default loadConfig() */
  readonly config?: ClusterConfig;
  readonly client?: ClientOptions;
  /** Cache only these namespaces. @default all */
  readonly namespaces?: readonly string[];
  readonly cache?: ReflectorTuning;
  /** Run controllers on one replica at a time. @default no leader election */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'identity'> & { readonly identity?: string };
  /** Milliseconds for controllers to finish when the program stops. @default 20_000 */
  readonly gracePeriod?: number;
  /** Milliseconds for caches to sync at the start. @default 120_000 */
  readonly syncTimeout?: number;
  /** Polling interval of optional APIs in milliseconds. @default 30_000 */
  readonly discoveryPeriod?: number;
  readonly log?: Log;
  readonly clock?: Clock;
}

/** Milliseconds after which an overdue reconcile counts as stuck: only a restart unlocks its object. */
const STUCK_AFTER = 10 * 60_000;

/** Milliseconds after which a blocked event loop fails the liveness check. */
const STALLED_AFTER = 30_000;

/** Milliseconds for a component to stop after its signal was aborted. */
const STOP_TIMEOUT = 6_000;

/** Runs until the signal is aborted. Ending earlier, or throwing, stops the whole program. */
export interface Runnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

export class Manager {
  readonly name: string;
  /** Refuses writes unless this replica is the leader. */
  readonly client: Client;
  /** Never refuses writes: for work that every replica does. */
  readonly unguardedClient: Client;
  readonly cache: Cache;
  readonly log: Log;
  readonly clock: Clock;
  /** The only namespaces that are cached; empty: all. */
  readonly namespaces: readonly string[];
  readonly elector: LeaderElector | undefined;
  readonly recorder: EventRecorder;
  /** Applies children of owners; see {@link OwnedApplier}. */
  readonly owned: OwnedApplier;
  /** Which optional APIs are served; polled while the manager runs. */
  readonly discovery: Discovery;
  readonly metrics = new Metrics();
  readonly health = new Health();
  readonly #options: ManagerOptions;
  readonly #pages: StatusPages;
  readonly #controllers: Controller[] = [];
  readonly #leaseClient: Client | undefined;
  readonly #runnables: { readonly runnable: Runnable; readonly everywhere: boolean }[] = [];

  constructor(config: ClusterConfig, options: ManagerOptions) {
    this.name = options.name;
    this.namespaces = options.namespaces ?? [];
    this.#options = options;
    this.log = options.log ?? silent;
    this.clock = options.clock ?? systemClock;
    const clientOptions = {
      userAgent: options.name,
      fieldManager: options.name,
      clock: this.clock,
      observe: this.metrics.transport,
      ...options.client,
    };
    this.unguardedClient = createClient(config, clientOptions);
    this.cache = new Cache(this.unguardedClient, {
      namespaces: options.namespaces,
      clock: this.clock,
      log: this.log,
      ...(options.cache === undefined ? {} : { tuning: options.cache }),
    });
    const { leaderElection } = options;
    const identity = leaderElection?.identity ?? `${hostname()}_${crypto.randomUUID()}`;
    if (leaderElection !== undefined) {
      // Its own connections and no rate limit: a renewal must not wait behind a thousand writes to a slow API server.
      this.#leaseClient = createClient(config, { ...clientOptions, maxSockets: 2, rateLimit: false });
      this.elector = new LeaderElector(
        this.#leaseClient,
        { ...leaderElection, identity },
        { clock: this.clock, log: this.log },
      );
    }
    this.client =
      this.elector === undefined
        ? this.unguardedClient
        : this.unguardedClient.guarded(this.elector.assertLeading);
    this.discovery = new Discovery(this.unguardedClient, {
      clock: this.clock,
      log: this.log,
      period: options.discoveryPeriod ?? 30_000,
    });
    this.owned = new OwnedApplier(this.client, this.cache);
    this.recorder = new EventRecorder(
      this.client,
      { controller: options.name, instance: identity },
      { clock: this.clock, log: this.log },
    );
    this.#pages = new StatusPages(options, {
      name: this.name,
      health: this.health,
      metrics: this.metrics,
      client: this.unguardedClient,
      clock: this.clock,
      log: this.log,
    });
    this.#addChecks();
  }

  /** The ports that are served, once started. */
  get ports(): { readonly health?: number; readonly metrics?: number } {
    return this.#pages.ports;
  }

  controller(name: string): ControllerBuilder {
    return new ControllerBuilder(this.cache, (reconciler, sources, options) => {
      const controller: Controller = new Controller(name, reconciler, sources, options, {
        clock: this.clock,
        log: this.log,
        observer: this.metrics.controller(name, () => controller.queue),
      });
      this.#controllers.push(controller);
      return controller;
    });
  }

  /** Adds a page to the metrics port that only clients in the same pod can read. */
  addLocalRoute(path: string, answer: LocalRoute): void {
    this.#pages.addLocalRoute(path, answer);
  }

  /** Adds a runnable; `everywhere`: run it on every replica, not only on the leader. */
  add(runnable: Runnable, options: { everywhere?: boolean } = {}): void {
    this.#runnables.push({ runnable, everywhere: options.everywhere ?? false });
  }

  /**
   * Runs until the signal is aborted; then controllers finish their work, the lease is released, and caches and connections are closed.
   * Rejects if leadership is lost or a component fails: the program should exit and be restarted.
   */
  async start(signal: AbortSignal): Promise<void> {
    // Shutdown order: controllers, then the lease, then caches.
    const work = new AbortController();
    const kill = new AbortController();
    const rest = new AbortController();
    let failure: unknown;
    const fail = (error: unknown) => {
      failure ??= error;
      work.abort(error);
    };
    const stopWork = () => work.abort(new AbortedError('shutting down'));
    signal.addEventListener('abort', stopWork, { once: true });
    if (signal.aborted) stopWork();
    const running: Promise<void>[] = [];
    const leading: Promise<void>[] = [];
    const guard = async (what: string, promise: Promise<void>, until: AbortSignal): Promise<void> => {
      try {
        await promise;
        if (!until.aborted) fail(new Error(`${what} ended unexpectedly`));
      } catch (error) {
        if (!until.aborted) fail(error);
      }
    };
    try {
      running.push(...(await this.#serve(rest.signal)));
      await this.discovery.refresh(work.signal);
      running.push(guard('discovery', this.discovery.run(rest.signal), rest.signal));
      const { namespaces } = this;
      if (namespaces.length > 1) {
        const refused = new RefusedNamespaces(this.unguardedClient, this.cache, this);
        await refused.leaveOut(namespaces, work.signal);
        running.push(guard(refused.name, refused.run(rest.signal), rest.signal));
      }
      running.push(guard('cache', this.cache.start(rest.signal), rest.signal));
      for (const { runnable, everywhere } of this.#runnables)
        if (everywhere) running.push(guard(runnable.name, runnable.run(rest.signal), rest.signal));
      await this.cache.waitForSync({ signal: work.signal, timeout: this.#options.syncTimeout ?? 120_000 });
      if (this.elector !== undefined) {
        const { elector } = this;
        await elector.acquire(work.signal);
        elector.lost.addEventListener('abort', () => {
          // Abort immediately: another replica is running now.
          kill.abort(elector.lost.reason);
          fail(elector.lost.reason);
        });
        running.push(elector.hold(rest.signal));
      }
      leading.push(guard('events', this.recorder.run(work.signal), work.signal));
      for (const { runnable, everywhere } of this.#runnables)
        if (!everywhere) leading.push(guard(runnable.name, runnable.run(work.signal), work.signal));
      for (const controller of this.#controllers)
        leading.push(
          guard(`controller ${controller.name}`, controller.run(work.signal, kill.signal), work.signal),
        );
      this.#state = 'running';
      this.log.info({ controllers: this.#controllers.map((controller) => controller.name) }, 'started');
      await aborted(work.signal);
    } catch (error) {
      if (!work.signal.aborted) fail(error);
    } finally {
      this.#state = 'stopping';
      signal.removeEventListener('abort', stopWork);
      const grace = this.#options.gracePeriod ?? 20_000;
      const cancel = this.clock.after(grace, () => kill.abort(new AbortedError('the grace period is over')));
      await this.#waitAtMost(Promise.all(leading), grace + STOP_TIMEOUT);
      cancel();
      // Components that are still running may not write after this.
      await this.elector?.release();
      rest.abort(new AbortedError('shutting down'));
      await this.#waitAtMost(Promise.all(running), STOP_TIMEOUT);
      this.unguardedClient.close();
      this.#leaseClient?.close();
      this.log.info({}, 'stopped');
    }
    if (failure !== undefined) throw failure;
  }

  /** Waits for components to stop, with a time limit for one that ignores its signal. */
  async #waitAtMost(parts: Promise<unknown>, milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.clock.after(milliseconds, () => {
      this.log.error({ milliseconds }, 'component did not stop in time; continuing shutdown');
      resolve();
    });
    await Promise.race([parts, promise]);
    cancel();
  }

  #state: 'starting' | 'running' | 'stopping' = 'starting';
  #beat = 0;

  #addChecks(): void {
    this.health.addLiveCheck('loop', () => {
      const blocked = this.clock.monotonic() - this.#beat;
      return this.#beat > 0 && blocked > STALLED_AFTER
        ? `the event loop was blocked for ${Math.round(blocked)} ms`
        : undefined;
    });
    this.health.addLiveCheck('lease', () =>
      this.elector?.lost.aborted === true ? 'leadership was lost; this replica must restart' : undefined,
    );
    this.health.addLiveCheck('reconciles', () => {
      const stuck = this.#controllers.find((controller) => controller.longestOverdue > STUCK_AFTER);
      return stuck === undefined
        ? undefined
        : `${stuck.name}: a reconcile is still running ${Math.round(stuck.longestOverdue / 60_000)} minutes after it was aborted, and its object is not reconciled until it ends`;
    });
    this.health.addReadyCheck('stopping', () => (this.#state === 'stopping' ? 'shutting down' : undefined));
    this.health.addReadyCheck('caches', () => {
      const waiting = this.cache.informers.filter((informer) => !informer.synced);
      if (waiting.length === 0) return undefined;
      return waiting
        .map((informer) => `${informer.resource.plural}: ${informer.problem ?? 'waiting'}`)
        .join('; ');
    });
  }

  async #serve(signal: AbortSignal): Promise<Promise<void>[]> {
    this.#keepBeating(signal);
    if (this.elector !== undefined) {
      const { elector } = this;
      this.metrics.leading(this.name, () => elector.leading);
    }
    return this.#pages.serve(signal);
  }

  #keepBeating(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#beat = this.clock.monotonic();
    const cancel = this.clock.after(1_000, () => {
      signal.removeEventListener('abort', cancel);
      this.#keepBeating(signal);
    });
    signal.addEventListener('abort', cancel, { once: true });
  }
}

export async function createManager(options: ManagerOptions): Promise<Manager> {
  return new Manager(options.config ?? (await loadConfig()), options);
}

/** Aborted by SIGTERM or SIGINT. A second signal ends the program at once. */
export function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort(new Error(`received ${name}`));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return controller.signal;
}
