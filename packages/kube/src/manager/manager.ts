/** Puts a program together: client, cache, controllers and whatever else runs, started in order and stopped in reverse. */
import { hostname } from 'node:os';
import { Cache } from '../cache/cache.ts';
import type { ReflectorTuning } from '../cache/reflector.ts';
import { type Client, type ClientOptions, createClient } from '../client/client.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { ClusterConfig } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { ControllerBuilder } from '../controller/builder.ts';
import { Controller } from '../controller/controller.ts';
import { AbortedError } from '../errors.ts';
import { type LeaderElectionOptions, LeaderElector } from '../leader-election/elector.ts';
import { type Log, silent } from '../log.ts';

export interface ManagerOptions {
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
  /** Milliseconds that controllers get to finish when the program is asked to stop. @default 30_000 */
  readonly gracePeriod?: number;
  /** Milliseconds that caches get to fill at the start. @default 120_000 */
  readonly syncTimeout?: number;
  readonly log?: Log;
  readonly clock?: Clock;
}

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
  readonly #options: ManagerOptions;
  readonly #controllers: Controller[] = [];
  readonly #runnables: { readonly runnable: Runnable; readonly everywhere: boolean }[] = [];

  constructor(config: ClusterConfig, options: ManagerOptions) {
    this.name = options.name;
    this.#options = options;
    this.log = options.log ?? silent;
    this.clock = options.clock ?? systemClock;
    this.unguardedClient = createClient(config, {
      userAgent: options.name,
      fieldManager: options.name,
      clock: this.clock,
      ...options.client,
    });
    this.cache = new Cache(this.unguardedClient, {
      namespaces: options.namespaces,
      clock: this.clock,
      log: this.log,
      ...(options.cache === undefined ? {} : { tuning: options.cache }),
    });
    const { leaderElection } = options;
    if (leaderElection !== undefined) {
      const identity = leaderElection.identity ?? `${hostname()}_${crypto.randomUUID()}`;
      this.elector = new LeaderElector(
        this.unguardedClient,
        { ...leaderElection, identity },
        { clock: this.clock, log: this.log },
      );
    }
    this.client =
      this.elector === undefined
        ? this.unguardedClient
        : this.unguardedClient.guarded(this.elector.assertLeading);
  }

  controller(name: string): ControllerBuilder {
    return new ControllerBuilder(this.cache, (reconciler, sources, options) => {
      const controller = new Controller(name, reconciler, sources, options, {
        clock: this.clock,
        log: this.log,
      });
      this.#controllers.push(controller);
      return controller;
    });
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
        if (!until.aborted) fail(new Error(`${what} ended by itself`));
      } catch (error) {
        if (!until.aborted) fail(error);
      }
    };
    try {
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
      for (const { runnable, everywhere } of this.#runnables)
        if (!everywhere) leading.push(guard(runnable.name, runnable.run(work.signal), work.signal));
      for (const controller of this.#controllers)
        leading.push(
          guard(`controller ${controller.name}`, controller.run(work.signal, kill.signal), work.signal),
        );
      this.log.info({ controllers: this.#controllers.map((controller) => controller.name) }, 'started');
      await aborted(work.signal);
    } catch (error) {
      if (!work.signal.aborted) fail(error);
    } finally {
      signal.removeEventListener('abort', stopWork);
      const cancel = this.clock.after(this.#options.gracePeriod ?? 30_000, () =>
        kill.abort(new AbortedError('the grace period is over')),
      );
      await Promise.all(leading);
      cancel();
      await this.elector?.release();
      rest.abort(new AbortedError('asked to stop'));
      await Promise.all(running);
      this.unguardedClient.close();
      this.log.info({}, 'stopped');
    }
    if (failure !== undefined) throw failure;
  }
}

export async function createManager(options: ManagerOptions): Promise<Manager> {
  return new Manager(options.config ?? (await loadConfig()), options);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
