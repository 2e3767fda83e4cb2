/**
 * Keeps a replica equal to the server: a streaming list (pages if the server has none), then a watch. After any failure it resumes the
 * watch or lists again. It ends only when its signal is aborted.
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
  /** Milliseconds without a byte after which a watch is considered broken. @default 180_000 */
  readonly idle?: number;
  /** Milliseconds after which it lists again in any case, to recover lost events. @default 1_800_000 */
  readonly relistEvery?: number;
  /** Minimum milliseconds between two lists because of suspected lost events. @default 60_000 */
  readonly repairEvery?: number;
  /** `false`: never request a streaming list. @default true */
  readonly streaming?: boolean;
  /** Milliseconds without a further object after which a streaming list falls back to pages. @default 30_000 */
  readonly listTimeout?: number;
  /** Objects per page where lists are paged. @default 500 */
  readonly pageSize?: number;
  /** The API may be absent: then the cache is empty, counts as synced, and retries. @default false */
  readonly optional?: boolean;
  /** Milliseconds between retries while the API is absent. @default 30_000 */
  readonly absentRetry?: number;
}

const BACKOFF: BackoffOptions = { initial: 800, limit: 30_000 };
/** A connection that lasted this long was healthy and resets the back-off. */
const HEALTHY = 60_000;
/** A watch that the server ends sooner than this counts as a failure. */
const BRIEF = 1_000;
/** After this many failures in a row the resourceVersion may be the cause: list again. */
const SUSPECT_AFTER = 5;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** The server accepted the request but does not support streaming lists. */
class NoStreamingError extends Error {}

/**
 * Servers that accept a streaming list and then send an error event: their store (an etcd before 3.4.25) cannot report when the list is
 * complete. That applies to every kind, so no other cache on the connection requests one.
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

  /** The error that ended the last connection; undefined if there is none. */
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
        // The server ends watches regularly; but one that ends at once must not cause a hot loop.
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
        this.#recordFailure(error);
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
      // After repeated failures of the stream use pages: they succeed on connections that break streams.
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

  /** One watch that begins with the existing objects. Returns false if the server does not support streaming lists. */
  async #streamingList(signal: AbortSignal): Promise<boolean> {
    const { replica, clock, client } = this.#options;
    let listing = true;
    let heard = clock.monotonic();
    const connection = new AbortController();
    const stop = () => connection.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    // A server that ignores `sendInitialEvents` never sends the bookmark that ends them.
    let cancel: () => void = () => undefined;
    const checkListTimeout = () => {
      const left = heard + (this.#options.listTimeout ?? 30_000) - clock.monotonic();
      if (left > 0) cancel = clock.after(left, checkListTimeout);
      else connection.abort(new NoStreamingError('no initial-events-end bookmark'));
    };
    checkListTimeout();
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
      if (listing) throw new MalformedError('the watch ended before the initial-events-end bookmark');
      return true;
    } catch (error) {
      const refused = error instanceof BadRequestError || error instanceof InvalidError;
      const unsupported = error instanceof ApiError && error.inWatch && error.status === 500;
      if (!listing || !(refused || unsupported || connection.signal.reason instanceof NoStreamingError))
        throw error;
      this.#streaming = false;
      if (unsupported) serversWithoutStreaming.add(client.transport);
      this.#options.log.info(
        { reason: explain(error) },
        'server does not support streaming lists; using pages',
      );
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

  /** The API is not served, so no object of this kind exists. */
  #absent(): void {
    this.#options.replica.beginList();
    this.#synced('0');
    this.#mustList = true;
    this.#failures = 0;
  }

  /** Decides from the error whether the watch can be resumed. */
  #recordFailure(error: unknown): void {
    this.#failure = error;
    // A watch that the server refuses cannot be resumed: its resourceVersion is too old (410) or too new (504), or access is denied, and
    // then the list reports why. After any other failure the resourceVersion is still valid.
    const refused =
      error instanceof ApiError &&
      ((error.status >= 400 && error.status < 500 && error.status !== 429) ||
        error instanceof ServerTimeoutError);
    if (refused) this.#mustList = true;
    this.#options.log.debug({ reason: explain(error), relist: this.#mustList }, 'watch ended');
  }

  /**
   * A server that was restored from a backup may be at a lower resourceVersion and would send no events until it passes ours. So after
   * a failure its current resourceVersion is read before the watch is resumed.
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
    // A watch that the server ended normally is resumed at once.
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
