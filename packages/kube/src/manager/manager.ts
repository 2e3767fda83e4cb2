/** Puts a program together: client, cache, controllers and whatever else runs, started in order and stopped in reverse. */
import { hostname } from 'node:os';
import { OwnedApplier } from '../apply/owned-applier.ts';
import { Cache } from '../cache/cache.ts';
import type { ReflectorTuning } from '../cache/reflector.ts';
import { type Client, type ClientOptions, createClient } from '../client/client.ts';
import { aborted, type Clock, systemClock } from '../clock.ts';
import type { ClusterConfig } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { ControllerBuilder } from '../controller/builder.ts';
import { Controller } from '../controller/controller.ts';
import { AbortedError } from '../errors.ts';
import { type LeaderElectionOptions, LeaderElector } from '../leader-election/elector.ts';
import { type Log, silent } from '../log.ts';
import { EventRecorder } from '../recorder/recorder.ts';
import { Discovery } from './discovery.ts';
import { Health } from './health.ts';
import { Metrics } from './metrics.ts';
import { type LocalRoute, StatusPages, type StatusPagesOptions } from './status-pages.ts';

export interface ManagerOptions extends StatusPagesOptions {
  /** Names the program: user agent, field manager, identity. */
  readonly name: string;
  /** @default loadConfig() */
  readonly config?: ClusterConfig;
  readonly client?: ClientOptions;
  /** Look at these namespaces only. @default all */
  readonly namespaces?: readonly string[];
  readonly cache?: ReflectorTuning;
  /** Run controllers on one replica at a time. @default no election */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'identity'> & { readonly identity?: string };
  /** Milliseconds that controllers get to finish when the program is asked to stop. @default 20_000 */
  readonly gracePeriod?: number;
  /** Milliseconds that caches get to fill at the start. @default 120_000 */
  readonly syncTimeout?: number;
  /** Milliseconds between looks at optional APIs. @default 30_000 */
  readonly discoveryPeriod?: number;
  readonly log?: Log;
  readonly clock?: Clock;
}

/** A reconcile that ignores for so long that it should end never will: only a restart gives its object back. */
const STUCK = 10 * 60_000;

/** An event loop that stands still for this long cannot be trusted with a lease or with anything else. */
const STALLED = 30_000;

/** Milliseconds that a part gets to end after it was told for the last time. */
const STUBBORN = 6_000;

/** Runs until the signal is aborted. Ending earlier, or throwing, stops the whole program. */
export interface Runnable {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

export class Manager {
  readonly name: string;
  /** Writes through it are held back unless this replica leads. */
  readonly client: Client;
  /** Writes through it are never held back: for what every replica does (its own certificate, its own lease). */
  readonly unguardedClient: Client;
  readonly cache: Cache;
  readonly log: Log;
  readonly clock: Clock;
  readonly elector: LeaderElector | undefined;
  readonly recorder: EventRecorder;
  /** Makes children of owners; see {@link OwnedApplier}. */
  readonly owned: OwnedApplier;
  /** Which optional APIs are there; looked at again and again while the manager runs. */
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
      // A renewal must not wait behind a thousand writes to a slow API server, for a socket or for its share of the rate.
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

  /** Serves something more beside the metrics, to those on the same machine (in the same pod) only. */
  addLocalRoute(path: string, answer: LocalRoute): void {
    this.#pages.addLocalRoute(path, answer);
  }

  /** Something else to run; `everywhere`: on every replica, not on the leader only. */
  add(runnable: Runnable, options: { everywhere?: boolean } = {}): void {
    this.#runnables.push({ runnable, everywhere: options.everywhere ?? false });
  }

  /**
   * Runs until the signal is aborted; then controllers finish what they have, the lease is given back, and caches and
   * connections end. Rejects when leadership is lost or a part fails: the program should exit and be started anew.
   */
  async start(signal: AbortSignal): Promise<void> {
    // Three waves of stopping: controllers first, then what the leader holds, then caches.
    const work = new AbortController();
    const kill = new AbortController();
    const rest = new AbortController();
    let failure: unknown;
    const fail = (error: unknown) => {
      failure ??= error;
      work.abort(error);
    };
    const stopWork = () => work.abort(new AbortedError('asked to stop'));
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
      running.push(guard('cache', this.cache.start(rest.signal), rest.signal));
      for (const { runnable, everywhere } of this.#runnables)
        if (everywhere) running.push(guard(runnable.name, runnable.run(rest.signal), rest.signal));
      await this.cache.waitForSync({ signal: work.signal, timeout: this.#options.syncTimeout ?? 120_000 });
      if (this.elector !== undefined) {
        const { elector } = this;
        await elector.acquire(work.signal);
        elector.lost.addEventListener('abort', () => {
          // Nothing may finish in peace: another replica is at work.
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
      await this.#patiently(Promise.all(leading), grace + STUBBORN);
      cancel();
      // Whatever is still at it may not write any more, lease or no lease.
      await this.elector?.release();
      rest.abort(new AbortedError('asked to stop'));
      await this.#patiently(Promise.all(running), STUBBORN);
      this.unguardedClient.close();
      this.#leaseClient?.close();
      this.log.info({}, 'stopped');
    }
    if (failure !== undefined) throw failure;
  }

  /** Waits for the end of parts, but not for ever for one that ignores its signal. */
  async #patiently(parts: Promise<unknown>, milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.clock.after(milliseconds, () => {
      this.log.error({ milliseconds }, 'a part ignores that it should stop; going on without it');
      resolve();
    });
    await Promise.race([parts, promise]);
    cancel();
  }

  #state: 'starting' | 'running' | 'stopping' = 'starting';
  #beat = 0;

  #addChecks(): void {
    this.health.addLiveCheck('loop', () => {
      const silence = this.clock.monotonic() - this.#beat;
      return this.#beat > 0 && silence > STALLED
        ? `the event loop was blocked for ${Math.round(silence)} ms`
        : undefined;
    });
    this.health.addLiveCheck('lease', () =>
      this.elector?.lost.aborted === true ? 'leadership was lost; this replica must start over' : undefined,
    );
    this.health.addLiveCheck('reconciles', () => {
      const stuck = this.#controllers.find((controller) => controller.longestOverdue > STUCK);
      return stuck === undefined
        ? undefined
        : `${stuck.name}: a reconcile goes on ${Math.round(stuck.longestOverdue / 60_000)} minutes after it was told to end, and its object waits for it`;
    });
    this.health.addReadyCheck('stopping', () => (this.#state === 'stopping' ? 'asked to stop' : undefined));
    this.health.addReadyCheck('caches', () => {
      const waiting = this.cache.informers.filter((informer) => !informer.synced);
      if (waiting.length === 0) return undefined;
      return waiting
        .map((informer) => `${informer.resource.plural}: ${informer.trouble ?? 'waiting'}`)
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
