/**
 * HTTP to one API server: deadlines, retries, credentials, rate limit. It moves bytes and knows no objects.
 *
 * Retried here, with jitter, inside the deadline of the call:
 * - GET: lost connections, silence, 429, 503.
 * - any verb: a connection that was never made, and 429 or 503 with Retry-After (the server says it did nothing).
 * Everything else goes back to the caller: only it knows whether a write may be repeated.
 */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type BackoffOptions, backoffDelay, type Clock, sleep, systemClock } from '../clock.ts';
import type { ClusterConfig, Identity } from '../config/config.ts';
import { AbortedError, ConnectionError, DeadlineError } from '../errors.ts';
import { Call } from './call.ts';
import { Connections, type Use } from './connections.ts';
import { collect, type Exchange, send } from './exchange.ts';
import { type RateLimit, RateLimiter } from './rate-limit.ts';

export interface TransportOptions {
  /** @default { qps: 50, burst: 100 }; `false` switches it off */
  readonly rateLimit?: RateLimit | false;
  /** Milliseconds a call may take, retries included. @default 30_000 */
  readonly timeout?: number;
  /** A GET that moves no byte for this long is tried again on a new connection. @default 10_000 */
  readonly silence?: number;
  /** Connections for requests; streams are not counted. @default 64 */
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

/** Of an attempt, as far as retries are concerned. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Where the body is yet to be read. */
  readonly message?: IncomingMessage;
}

const RETRY: BackoffOptions = { initial: 100, limit: 5_000 };

export class Transport {
  readonly config: ClusterConfig;
  readonly connections: Connections;
  readonly #options: TransportOptions;
  readonly clock: Clock;
  readonly #limiter: RateLimiter | undefined;

  constructor(config: ClusterConfig, options: TransportOptions = {}) {
    this.config = config;
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.connections = new Connections(config, options.maxSockets ?? 64);
    const limit = options.rateLimit ?? { qps: 50, burst: 100 };
    this.#limiter = limit === false ? undefined : new RateLimiter(limit, this.clock);
  }

  /** One call with its whole answer. Any HTTP status is an answer; only the lack of one throws. */
  request(request: TransportRequest): Promise<TransportResponse> {
    return this.#withRetries(request, 'request', async (exchange) => {
      const message = await send(exchange);
      const { headers, statusCode: status = 0 } = message;
      return { status, headers, body: await collect(exchange, message) };
    });
  }

  /** One call whose answer is read as it comes: watches and logs. The deadline covers the wait for headers only. */
  async open(request: TransportRequest): Promise<IncomingMessage> {
    const { message } = await this.#withRetries(request, 'stream', async (exchange) => {
      const answer = await send(exchange);
      return { status: answer.statusCode ?? 0, headers: answer.headers, message: answer };
    });
    const { signal } = request;
    if (signal === undefined) return message;
    const stop = () =>
      message.destroy(new AbortedError(`cannot ${request.doing}: aborted`, { cause: signal.reason }));
    signal.addEventListener('abort', stop, { once: true });
    message.once('close', () => signal.removeEventListener('abort', stop));
    if (signal.aborted) stop();
    return message;
  }

  /** The headers that say who we are: for connections made elsewhere (WebSocket). */
  async headers(refused = false): Promise<{ identity: Identity; headers: OutgoingHttpHeaders }> {
    const identity = await this.config.identity({ refused });
    return { identity, headers: this.#headers(identity) };
  }

  close(): void {
    this.connections.destroy();
  }

  async #withRetries<T extends Answer>(
    request: TransportRequest,
    use: Use,
    attempt: (exchange: Exchange) => Promise<T>,
  ): Promise<T> {
    const timeout = request.timeout ?? this.#options.timeout ?? 30_000;
    const call = new Call(timeout, request.signal, this.clock);
    let lastFailure: unknown;
    try {
      let refused = false;
      for (let retry = 0; ; retry += 1) {
        if (this.#limiter !== undefined) await this.#limiter.take(call.signal);
        const identity = await this.config.identity({ refused });
        try {
          const answer = await this.#observed(request, this.#exchange(request, use, identity, call), attempt);
          if (answer.status === 401 && !refused) {
            // The token may have been rotated under us: read it anew, once.
            refused = true;
            answer.message?.resume();
            continue;
          }
          const wait = this.#retryAfter(request, answer, retry);
          if (wait === undefined) return answer;
          // An answer nobody reads must still be consumed, or its connection is never free again.
          answer.message?.resume();
          lastFailure = new Error(`the server answered ${answer.status}`);
          await sleep(wait, call.signal, this.clock);
        } catch (error) {
          const mayRepeat = error instanceof ConnectionError && (request.method === 'GET' || !error.sent);
          if (!mayRepeat || call.ended) throw error;
          // A failed handshake may mean that a certificate was rotated.
          refused = true;
          lastFailure = error;
          await sleep(backoffDelay(this.#options.retry ?? RETRY, retry, this.clock), call.signal, this.clock);
        }
      }
    } catch (error) {
      if (!call.ended) throw error;
      if (call.givenUp)
        throw new AbortedError(`cannot ${request.doing}: aborted`, { cause: request.signal?.reason });
      this.connections.renew();
      const cause = lastFailure;
      throw new DeadlineError(`cannot ${request.doing}: no answer within ${timeout} ms`, { cause });
    } finally {
      call.finish();
    }
  }

  #exchange(request: TransportRequest, use: Use, identity: Identity, call: Call): Exchange {
    return {
      request,
      use,
      identity,
      call,
      headers: this.#headers(identity),
      connections: this.connections,
      clock: this.clock,
      // A write is not repeated after silence, so its deadline is patience enough.
      silence: request.method === 'GET' ? (this.#options.silence ?? 10_000) : undefined,
    };
  }

  async #observed<T extends Answer>(
    request: TransportRequest,
    exchange: Exchange,
    attempt: (exchange: Exchange) => Promise<T>,
  ): Promise<T> {
    const { observe } = this.#options;
    if (observe === undefined) return attempt(exchange);
    const began = this.clock.monotonic();
    let code = '<error>';
    try {
      const answer = await attempt(exchange);
      code = String(answer.status);
      return answer;
    } finally {
      const seconds = (this.clock.monotonic() - began) / 1000;
      observe({ method: request.method, code, host: this.connections.url.host, seconds });
    }
  }

  /** Milliseconds to wait before trying again; undefined: this is the answer. */
  #retryAfter(request: TransportRequest, { status, headers }: Answer, retry: number): number | undefined {
    if (status !== 429 && status !== 503) return undefined;
    const asked = Number.parseFloat(headers['retry-after'] ?? '');
    if (Number.isNaN(asked) && request.method !== 'GET') return undefined;
    const backoff = backoffDelay(this.#options.retry ?? RETRY, retry, this.clock);
    return Number.isNaN(asked) ? backoff : asked * 1000 + backoff;
  }

  #headers(identity: Identity): OutgoingHttpHeaders {
    return {
      'User-Agent': this.#options.userAgent ?? 'kube-runtime',
      ...this.config.headers,
      ...(identity.authorization === undefined ? {} : { Authorization: identity.authorization }),
    };
  }
}
