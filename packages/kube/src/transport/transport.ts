/**
 * HTTP to one API server: deadlines, retries, credentials, rate limit. It moves bytes and knows no objects.
 *
 * Retried here, with jitter, inside the deadline of the call:
 * - GET: lost connections, silence, 429, 503.
 * - any verb: a connection that was never made, and 429 or 503 with Retry-After (the server says it did nothing).
 * Everything else goes back to the caller: only it knows whether a write may be repeated.
 */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type BackoffOptions, backoffDelay, type Clock, sleep, systemClock } from '../clock.ts';
import type { ClusterConfig, Identity } from '../config/config.ts';
import { AbortedError, ConnectionError, DeadlineError, KubeError } from '../errors.ts';
import { Connections, guardNextWrite, onceConnected } from './connections.ts';
import { type RateLimit, RateLimiter } from './rate-limit.ts';

export interface TransportOptions {
  /** @default { qps: 50, burst: 100 }; `false` switches it off */
  readonly rateLimit?: RateLimit | false;
  /** Milliseconds a call may take, retries included. @default 30_000 */
  readonly timeout?: number;
  /** A GET that moves no byte for this long is tried again on a new connection. @default 10_000 */
  readonly silence?: number;
  /** @default 64 */
  readonly maxSockets?: number;
  readonly userAgent?: string;
  readonly retry?: BackoffOptions;
  readonly clock?: Clock;
  /** Told of every attempt, for metrics. `code` is the HTTP status or `<error>`. */
  readonly observe?: (attempt: { method: string; code: string; host: string; seconds: number }) => void;
}

export interface TransportRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asked at the last moment before the bytes leave; throws to hold them back. */
  readonly guard?: (() => void) | undefined;
  /** Finishes "cannot …" in messages. */
  readonly doing: string;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const RETRY: BackoffOptions = { initial: 100, limit: 5_000 };

export class Transport {
  readonly config: ClusterConfig;
  readonly connections: Connections;
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #limiter: RateLimiter | undefined;

  constructor(config: ClusterConfig, options: TransportOptions = {}) {
    this.config = config;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.connections = new Connections(config, options.maxSockets ?? 64);
    const limit = options.rateLimit ?? { qps: 50, burst: 100 };
    this.#limiter = limit === false ? undefined : new RateLimiter(limit, this.#clock);
  }

  /** One call with its whole answer. Any HTTP status is an answer; only the lack of one throws. */
  async request(request: TransportRequest): Promise<TransportResponse> {
    return this.#withRetries(request, async (identity, signal) => {
      const message = await this.#send(request, identity, signal, request.method === 'GET');
      return {
        status: message.statusCode ?? 0,
        headers: message.headers,
        body: await this.#collect(request, message, signal),
      };
    });
  }

  /** One call whose answer is read as it comes: watches and logs. The deadline covers the wait for headers only. */
  async open(request: TransportRequest): Promise<IncomingMessage> {
    return this.#withRetries(request, async (identity, signal) => {
      const message = await this.#send(request, identity, signal, true);
      const { signal: caller } = request;
      if (caller !== undefined) {
        const stop = () =>
          message.destroy(new AbortedError(`cannot ${request.doing}: given up`, { cause: caller.reason }));
        caller.addEventListener('abort', stop, { once: true });
        message.once('close', () => caller.removeEventListener('abort', stop));
        if (caller.aborted) stop();
      }
      return message;
    });
  }

  /** The headers that say who we are: for connections made elsewhere (WebSocket). */
  async headers(refused = false): Promise<{ identity: Identity; headers: Record<string, string> }> {
    const identity = await this.config.identity({ refused });
    return { identity, headers: this.#headers(identity) };
  }

  close(): void {
    this.connections.destroy();
  }

  async #withRetries<T extends { status: number; headers: IncomingHttpHeaders } | IncomingMessage>(
    request: TransportRequest,
    attempt: (identity: Identity, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const timeout = request.timeout ?? this.#options.timeout ?? 30_000;
    const ending = new AbortController();
    const { signal } = ending;
    const giveUp = () => ending.abort(request.signal?.reason);
    const cancelTimer = this.#clock.after(timeout, giveUp);
    request.signal?.addEventListener('abort', giveUp, { once: true });
    if (request.signal?.aborted === true) giveUp();
    let refused = false;
    let lastFailure: unknown;
    try {
      for (let retry = 0; ; retry += 1) {
        await this.#limiter?.take(signal);
        const identity = await this.config.identity({ refused, signal });
        try {
          const response = await attempt(identity, signal);
          const status = 'status' in response ? response.status : (response.statusCode ?? 0);
          if (status === 401 && !refused) {
            // The token may have been rotated under us: read it anew, once.
            refused = true;
            discard(response);
            continue;
          }
          const wait = this.#retryAfter(request, status, response.headers, retry);
          if (wait === undefined) return response;
          discard(response);
          lastFailure = new Error(`the server answered ${status}`);
          await sleep(wait, signal, this.#clock);
        } catch (error) {
          if (
            !(error instanceof ConnectionError) ||
            (request.method !== 'GET' && error.sent) ||
            signal.aborted
          )
            throw error;
          // A failed handshake may mean that a certificate was rotated.
          refused = true;
          lastFailure = error;
          await sleep(backoffDelay(this.#options.retry ?? RETRY, retry, this.#clock), signal, this.#clock);
        }
      }
    } catch (error) {
      if (request.signal?.aborted === true)
        throw new AbortedError(`cannot ${request.doing}: given up`, { cause: request.signal.reason });
      if (signal.aborted) {
        this.connections.renew();
        throw new DeadlineError(`cannot ${request.doing}: no answer within ${timeout} ms`, {
          cause: lastFailure,
        });
      }
      throw error;
    } finally {
      cancelTimer();
      request.signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Milliseconds to wait before trying again; undefined: this is the answer. */
  #retryAfter(
    request: TransportRequest,
    status: number,
    headers: IncomingHttpHeaders,
    retry: number,
  ): number | undefined {
    if (status !== 429 && status !== 503) return undefined;
    const asked = Number.parseFloat(headers['retry-after'] ?? '');
    if (Number.isNaN(asked) && request.method !== 'GET') return undefined;
    const backoff = backoffDelay(this.#options.retry ?? RETRY, retry, this.#clock);
    return Number.isNaN(asked) ? backoff : asked * 1000 + backoff;
  }

  #headers(identity: Identity): Record<string, string> {
    return {
      'User-Agent': this.#options.userAgent ?? 'kube-runtime',
      ...this.config.headers,
      ...(identity.authorization === undefined ? {} : { Authorization: identity.authorization }),
    };
  }

  /** One attempt, until the headers of the answer are there. */
  #send(
    request: TransportRequest,
    identity: Identity,
    signal: AbortSignal,
    watchSilence: boolean,
  ): Promise<IncomingMessage> {
    const began = this.#clock.monotonic();
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers: Record<string, string | number> = { ...this.#headers(identity), ...request.headers };
    if (request.body !== undefined) headers['Content-Length'] = Buffer.byteLength(request.body);
    let outgoing: ClientRequest;
    let sent = false;
    let cancelSilence: () => void = () => undefined;
    const stop = () => outgoing.destroy(new AbortedError('given up', { cause: signal.reason }));
    const settle = (code: string) => {
      cancelSilence();
      signal.removeEventListener('abort', stop);
      const seconds = (this.#clock.monotonic() - began) / 1000;
      this.#options.observe?.({ method: request.method, code, host: this.connections.url.host, seconds });
    };
    try {
      outgoing = this.connections.request(identity, { method: request.method, path: request.path, headers });
    } catch (cause) {
      return Promise.reject(new ConnectionError(`cannot ${request.doing}`, { cause, sent: false }));
    }
    outgoing.once('response', (message) => {
      settle(String(message.statusCode));
      resolve(message);
    });
    outgoing.once('error', (cause) => {
      settle('<error>');
      reject(
        cause instanceof KubeError
          ? cause
          : new ConnectionError(`cannot ${request.doing}: ${describe(cause)}`, { cause, sent }),
      );
    });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    if (watchSilence)
      cancelSilence = this.#clock.after(this.#options.silence ?? 10_000, () => {
        this.connections.renew();
        outgoing.destroy(new Error('the server is silent'));
      });
    // The guard is asked when the connection stands, and the bytes leave right after it.
    onceConnected(outgoing, this.connections.url.protocol === 'https:', (socket) => {
      if (request.guard !== undefined) guardNextWrite(socket, request.guard);
      sent = true;
      outgoing.end(request.body);
    });
    return promise;
  }

  #collect(request: TransportRequest, message: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const chunks: Buffer[] = [];
    const silence = this.#options.silence ?? 10_000;
    let heard = this.#clock.monotonic();
    let cancelSilence: () => void = () => undefined;
    const listen = () => {
      const left = heard + silence - this.#clock.monotonic();
      if (left <= 0) message.destroy(new Error('the server is silent'));
      else cancelSilence = this.#clock.after(left, listen);
    };
    const stop = () => message.destroy(new AbortedError('given up', { cause: signal.reason }));
    const settle = () => {
      cancelSilence();
      signal.removeEventListener('abort', stop);
    };
    message.on('data', (chunk: Buffer) => {
      heard = this.#clock.monotonic();
      chunks.push(chunk);
    });
    message.once('end', () => {
      settle();
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    message.once('error', (cause) => {
      settle();
      reject(
        cause instanceof KubeError
          ? cause
          : new ConnectionError(`cannot ${request.doing}: the answer broke off`, { cause, sent: true }),
      );
    });
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    listen();
    return promise;
  }
}

/** An answer nobody reads must still be consumed, or its connection is never free again. */
function discard(response: { status: number } | IncomingMessage): void {
  if ('resume' in response) response.resume();
}

function describe(cause: Error): string {
  const { code } = cause as NodeJS.ErrnoException;
  return code === undefined || cause.message.includes(code) ? cause.message : `${cause.message} (${code})`;
}
