/**
 * HTTP to one API server: deadlines, retries, credentials, rate limit. It knows bytes, not objects.
 *
 * Retried here, with jitter, inside the deadline of the call:
 * - GET: lost connections, timeouts without data, 429, 503.
 * - any verb: a connection that could not be opened, and 429 or 503 with Retry-After (the server did nothing).
 * Everything else is returned to the caller, which knows whether a write may be repeated.
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
  /** Maximum duration of a call in milliseconds, including retries. @default 30_000 */
  readonly timeout?: number;
  /** A GET without data for this many milliseconds is retried on a new connection. @default 10_000 */
  readonly silence?: number;
  /** Connections for requests; streams are not counted. @default 64 */
  readonly maxSockets?: number;
  readonly userAgent?: string;
  readonly retry?: BackoffOptions;
  readonly clock?: Clock;
  /** Called after every attempt, for metrics. `code` is the HTTP status or `<error>`. */
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
  /** Called right before the bytes are sent; throws to prevent that. */
  readonly guard?: (() => void) | undefined;
  /** The action, for error messages: "cannot <doing>". */
  readonly doing: string;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The part of a response that retries depend on. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Set if the body is not read yet. */
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

  /** Sends a request and reads the whole response. Any HTTP status is a response; only the lack of one throws. */
  request(request: TransportRequest): Promise<TransportResponse> {
    return this.#withRetries(request, 'request', async (exchange) => {
      const message = await send(exchange);
      const { headers, statusCode: status = 0 } = message;
      return { status, headers, body: await collect(exchange, message) };
    });
  }

  /** Sends a request and returns the response as a stream: for watches and logs. The deadline covers only the headers. */
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

  /** The headers with the credentials: for connections that are opened elsewhere (WebSocket). */
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
            // The token may have been rotated: read it again, once.
            refused = true;
            answer.message?.resume();
            continue;
          }
          const wait = this.#retryAfter(request, answer, retry);
          if (wait === undefined) return answer;
          // An unused response must be consumed, or its connection is never released.
          answer.message?.resume();
          lastFailure = new Error(`the server responded with ${answer.status}`);
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
      if (call.abortedByCaller)
        throw new AbortedError(`cannot ${request.doing}: aborted`, { cause: request.signal?.reason });
      this.connections.renew();
      const cause = lastFailure;
      throw new DeadlineError(`cannot ${request.doing}: no response within ${timeout} ms`, { cause });
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
      // A write is not retried after a timeout, so only its deadline applies.
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

  /** Milliseconds to wait before the retry; undefined: no retry. */
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
