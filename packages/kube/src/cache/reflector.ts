/**
 * Keeps a replica equal to the server: streaming list (pages where the server has none), then a watch that is resumed, or
 * begun anew with a list, after whatever happens. Ends only when its signal is aborted.
 */
import type { Client } from '../client/client.ts';
import type { ListOptions } from '../client/options.ts';
import type { WatchEvent } from '../client/watch.ts';
import { type BackoffOptions, backoffDelay, type Clock, sleep } from '../clock.ts';
import {
  ApiError,
  BadRequestError,
  explain,
  InvalidError,
  MalformedError,
  NotFoundError,
  ServerTimeoutError,
} from '../errors.ts';
import type { Log } from '../log.ts';
import { compareResourceVersions, type KubeObject } from '../objects/object.ts';
import { pathOf, type Resource } from '../objects/resource.ts';
import type { Transport } from '../transport/transport.ts';
import type { Replica } from './replica.ts';

export interface ReflectorOptions<T extends KubeObject> extends ReflectorTuning {
  readonly client: Client;
  readonly resource: Resource<T>;
  readonly replica: Replica<T>;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when a list is complete. */
  readonly onSynced: () => void;
}

export interface ReflectorTuning {
  /** @default { initial: 800, limit: 30_000 } */
  readonly backoff?: BackoffOptions;
  /** Milliseconds without a byte after which a watch is taken for dead. @default 180_000 */
  readonly idle?: number;
  /** A list at least this often, against events that never came. @default 1_800_000 */
  readonly relistEvery?: number;
  /** Suspected loss of events leads to a list at most this often. @default 60_000 */
  readonly repairEvery?: number;
  /** `false`: never ask for a streaming list. @default true */
  readonly streaming?: boolean;
  /** Milliseconds without another object after which a streaming list without end becomes pages. @default 30_000 */
  readonly listPatience?: number;
  /** Objects per page where lists are paged. @default 500 */
  readonly pageSize?: number;
  /** The API may be absent: then the cache is empty, counts as filled, and looks again. @default false */
  readonly optional?: boolean;
  /** Milliseconds between looks at an absent API. @default 30_000 */
  readonly absentRetry?: number;
}

const BACKOFF: BackoffOptions = { initial: 800, limit: 30_000 };
/** A connection that lived this long was healthy: the next failure is the first again. */
const HEALTHY = 60_000;
/** A watch that the server ends sooner than this looks like a failure. */
const BRIEF = 1_000;
/** After so many failures in a row the resourceVersion itself is under suspicion. */
const SUSPECT_AFTER = 5;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** The server took the request but does not know streaming lists. */
class NoStreamingError extends Error {}

/**
 * Servers that accept a streaming list and then report an error of their own in its place: their store (an etcd before
 * 3.4.25) cannot tell when the list is complete. That holds for every kind, so no other cache on the connection asks.
 */
const serversWithoutStreaming = new WeakSet<Transport>();

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #selection: ListOptions;
  #streaming: boolean;
  #mustList = true;
  #listedAt = Number.NEGATIVE_INFINITY;
  #repairedAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #failure: unknown;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#streaming = options.streaming ?? true;
    const { namespace, labelSelector, fieldSelector } = options;
    this.#selection = { namespace, labelSelector, fieldSelector };
  }

  /** Why the last connection ended badly; undefined while all is well. */
  get failure(): unknown {
    return this.#failure;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const began = this.#options.clock.monotonic();
      const lasted = () => this.#options.clock.monotonic() - began;
      try {
        await this.#connect(signal);
        this.#failure = undefined;
        // Ended in good order, as watches do; but one that ends at once must not be a hot loop.
        if (lasted() >= BRIEF) this.#failures = -1;
      } catch (error) {
        if (signal.aborted) return;
        if (this.#options.optional === true && error instanceof NotFoundError) {
          this.#absent();
          await sleep(this.#options.absentRetry ?? 30_000, signal, this.#options.clock).catch(
            () => undefined,
          );
          continue;
        }
        this.#judge(error);
      }
      this.#failures = lasted() >= HEALTHY ? 0 : this.#failures + 1;
      if (this.#failures >= SUSPECT_AFTER) this.#mustList = true;
      await this.#pause(signal);
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const { clock, replica } = this.#options;
    const age = clock.monotonic() - this.#listedAt;
    // Spread over a quarter of the period, so that many caches do not list together.
    if (age > (this.#options.relistEvery ?? 1_800_000) * (1 - 0.25 * clock.random())) this.#mustList = true;
    if (this.#failure !== undefined && !this.#mustList) await this.#checkForRestore(signal);
    if (!this.#mustList) return this.#watch(signal);
    replica.beginList();
    try {
      // A stream that breaks off again and again is given up: pages get through where it does not.
      const { transport } = this.#options.client;
      if (this.#streaming && !serversWithoutStreaming.has(transport) && this.#failures < SUSPECT_AFTER) {
        if (await this.#streamingList(signal)) return;
        replica.beginList();
      }
      let resourceVersion = '';
      for await (const page of this.#options.client.pages(this.#options.resource, {
        ...this.#selection,
        pageSize: this.#options.pageSize ?? 500,
        timeout: 60_000,
        signal,
      })) {
        for (const object of page.items) replica.listed(object);
        ({ resourceVersion } = page);
      }
      this.#synced(resourceVersion);
    } finally {
      replica.abandonList();
    }
    return this.#watch(signal);
  }

  /** One watch that begins with the present objects and then goes on. False when the server has no streaming lists. */
  async #streamingList(signal: AbortSignal): Promise<boolean> {
    const { replica, clock, client } = this.#options;
    let listing = true;
    let heard = clock.monotonic();
    const connection = new AbortController();
    const stop = () => connection.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    // A server that ignores the request for initial events never sends their end.
    let cancel: () => void = () => undefined;
    const patience = () => {
      const left = heard + (this.#options.listPatience ?? 30_000) - clock.monotonic();
      if (left > 0) cancel = clock.after(left, patience);
      else connection.abort(new NoStreamingError('the end of the initial events did not come'));
    };
    patience();
    try {
      await this.#open(connection, { sendInitialEvents: true }, (event) => {
        if (!listing) return this.#take(event, connection);
        if (event.type !== 'BOOKMARK') heard = clock.monotonic();
        if (event.type === 'DELETED') replica.unlisted(event.object);
        else if (event.type !== 'BOOKMARK') replica.listed(event.object);
        else if (event.object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true') {
          cancel();
          listing = false;
          this.#synced(event.object.metadata.resourceVersion);
        }
      });
      if (listing) throw new MalformedError('the watch ended before the end of the initial events');
      return true;
    } catch (error) {
      const refused = error instanceof BadRequestError || error instanceof InvalidError;
      const unsupported = error instanceof ApiError && error.inWatch && error.status === 500;
      if (!listing || !(refused || unsupported || connection.signal.reason instanceof NoStreamingError))
        throw error;
      this.#streaming = false;
      if (unsupported) serversWithoutStreaming.add(client.transport);
      this.#options.log.info({ reason: explain(error) }, 'no streaming lists here; pages instead');
      return false;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const connection = new AbortController();
    const stop = () => connection.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      await this.#open(connection, { resourceVersion: this.#options.replica.progress }, (event) =>
        this.#take(event, connection),
      );
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #open(
    connection: AbortController,
    query: { sendInitialEvents?: boolean; resourceVersion?: string },
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const { client, resource, clock } = this.#options;
    return client.watch(
      resource,
      {
        ...this.#selection,
        ...query,
        // Spread, so that many caches do not reconnect together.
        timeoutSeconds: 300 + Math.floor(clock.random() * 300),
        idle: this.#options.idle ?? 180_000,
        signal: connection.signal,
      },
      onEvent,
    );
  }

  #take(event: WatchEvent<T>, connection: AbortController): void {
    const { replica, clock } = this.#options;
    const { resourceVersion } = event.object.metadata;
    if (compareResourceVersions(resourceVersion, replica.progress) < 0) {
      this.#mustList = true;
      connection.abort(
        new MalformedError(`resourceVersion went back from ${replica.progress} to ${resourceVersion}`),
      );
      return;
    }
    this.#failure = undefined;
    if (event.type === 'BOOKMARK') {
      replica.bookmark(resourceVersion);
      return;
    }
    if (replica.event(event.type, event.object)) return;
    const now = clock.monotonic();
    if (now - this.#repairedAt < (this.#options.repairEvery ?? 60_000)) return;
    this.#repairedAt = now;
    this.#mustList = true;
    connection.abort(new MalformedError(`${event.type} of an object that was never added: events were lost`));
  }

  #synced(resourceVersion: string): void {
    const { replica, clock } = this.#options;
    replica.endList(resourceVersion);
    this.#listedAt = clock.monotonic();
    this.#mustList = false;
    this.#failure = undefined;
    this.#options.onSynced();
  }

  /** The API is not served: nothing of this kind exists. */
  #absent(): void {
    this.#options.replica.beginList();
    this.#synced('0');
    this.#mustList = true;
    this.#failures = 0;
  }

  /** What a failure says about how to go on. */
  #judge(error: unknown): void {
    this.#failure = error;
    // A watch that the server refuses outright cannot be resumed: its place is gone (410) or not reached yet (504), or it
    // may not be had at all, and then the list says why. Every other failure leaves the place good.
    const refused =
      error instanceof ApiError &&
      ((error.status >= 400 && error.status < 500 && error.status !== 429) ||
        error instanceof ServerTimeoutError);
    if (refused) this.#mustList = true;
    this.#options.log.debug({ reason: explain(error), relist: this.#mustList }, 'watch ended');
  }

  /**
   * A server restored from a backup may count from a lower number and would then stay silent until it passes ours. After
   * a failure its present number is asked for before the watch is resumed.
   */
  async #checkForRestore(signal: AbortSignal): Promise<void> {
    const { client, resource, replica, namespace } = this.#options;
    const list = await client.json<{ metadata?: { resourceVersion?: string } }>(
      'GET',
      `${pathOf(resource, { namespace })}?limit=1`,
      { signal, doing: `list ${resource.plural}` },
    );
    const now = list.metadata?.resourceVersion ?? '';
    if (compareResourceVersions(now, replica.progress) < 0) this.#mustList = true;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    // A watch that ended well after a while is resumed at once.
    if (this.#failures === 0 && this.#failure === undefined) return;
    try {
      await sleep(
        backoffDelay(this.#options.backoff ?? BACKOFF, Math.max(0, this.#failures - 1), clock),
        signal,
        clock,
      );
    } catch {
      // Aborted: the loop ends.
    }
  }
}
