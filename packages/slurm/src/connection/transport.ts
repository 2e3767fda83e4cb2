/**
 * One HTTP exchange with slurmrestd: keep-alive connections, a token per request, a deadline, a size limit.
 * It returns the raw response; `answer.ts` interprets it.
 */
import http from 'node:http';
import https from 'node:https';
import { type Clock, systemClock } from '../clock.ts';
import { Aborted, InvalidInput, ProtocolError, SlurmError, Timeout, Unavailable } from '../errors.ts';
import { jwtUser } from '../tokens/jwt.ts';
import type { TokenProvider } from '../tokens/token-provider.ts';
import { type ElementSink, ElementSplitter } from '../wire/element-splitter.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export type Query = Readonly<Record<string, string | number | readonly (string | number)[] | undefined>>;

export interface Exchange {
  readonly method: Method;
  /** Path below the server's address, %-encoded. */
  readonly path: string;
  /** A list becomes one parameter per value: slurmrestd does not accept commas. */
  readonly query?: Query;
  readonly body?: unknown;
  /** From the first byte sent to the last byte read. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Safe to repeat: retried if a kept-alive connection was closed by the server. */
  readonly idempotent?: boolean;
  /** Receives the elements of a long list one by one; see ElementSplitter. */
  readonly list?: ElementSink;
  /** Maximum size of the response, in place of that of the connection. */
  readonly maxAnswerBytes?: number;
}

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Size of the body on the wire. */
  readonly bytes: number;
  /** When the request was sent: the response reflects this moment or a later one. */
  readonly beganAt: number;
}

export interface TransportOptions {
  /** Address of slurmrestd, such as `http://slurm-restapi:6820`. */
  readonly server: string | URL;
  readonly token: TokenProvider;
  /** Trusted certificates for https, PEM. Default: those of the system. */
  readonly ca?: string;
  /** Default deadline of a call. Default 20 s: slurmrestd itself waits 10 s for slurmctld. */
  readonly timeoutMs?: number;
  /** Maximum number of connections; further calls wait. Default 4: parallel lists cost slurmrestd time and memory. */
  readonly maxConnections?: number;
  /** Maximum size of a response. Default 256 MiB. */
  readonly maxAnswerBytes?: number;
  readonly clock?: Clock;
}

/** A long list is parsed for at most this long before other work of the event loop runs. */
const stretchMs = 4;
/** How long a connection is kept for the next call. */
const idleMs = 15_000;

export class Transport {
  readonly #server: URL;
  readonly #token: TokenProvider;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #clock: Clock;
  readonly #closed = new AbortController();

  constructor(options: TransportOptions) {
    this.#server = parseServer(options.server);
    this.#token = options.token;
    this.#timeoutMs = options.timeoutMs ?? 20_000;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? 256 * 1024 * 1024;
    this.#clock = options.clock ?? systemClock;
    // slurmrestd accepts only 124 connections: close idle ones.
    const agent = {
      keepAlive: true,
      maxSockets: options.maxConnections ?? 4,
      maxFreeSockets: 2,
      timeout: idleMs,
    };
    const secure = this.#server.protocol === 'https:';
    this.#agent = secure
      ? new https.Agent({ ...agent, ...(options.ca && { ca: options.ca }) })
      : new http.Agent(agent);
    this.#request = secure ? https.request : http.request;
  }

  /** Default deadline of a call. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  get server(): string {
    return this.#server.origin;
  }

  /** Whom the token is for. */
  async user(signal?: AbortSignal): Promise<string | undefined> {
    const token = await this.#token.token(signal);
    return token === undefined ? undefined : jwtUser(token);
  }

  async exchange(exchange: Exchange): Promise<Answer> {
    const token = await this.#token.token(exchange.signal);
    const attempt = () => this.#attempt(exchange, token);
    try {
      return await attempt();
    } catch (error) {
      // The server closed the kept-alive connection before it read the request.
      if (error instanceof StaleConnection && (exchange.idempotent ?? exchange.method === 'GET'))
        return attempt();
      throw error;
    }
  }

  close(): void {
    this.#closed.abort();
    this.#agent.destroy();
  }

  #attempt(exchange: Exchange, token: string | undefined): Promise<Answer> {
    const { method, signal } = exchange;
    const what = `${method} ${exchange.path}`;
    const body = exchange.body === undefined ? undefined : JSON.stringify(exchange.body);
    const url = new URL(exchange.path, this.#server);
    for (const [key, value] of Object.entries(exchange.query ?? {}))
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined) url.searchParams.append(key, String(one));
    const headers: http.OutgoingHttpHeaders = { accept: 'application/json' };
    if (token !== undefined) headers['x-slurm-user-token'] = token;
    if (body !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = Buffer.byteLength(body);
    }
    const timeoutMs = exchange.timeoutMs ?? this.#timeoutMs;
    const maxBytes = exchange.maxAnswerBytes ?? this.#maxAnswerBytes;
    const beganAt = this.#clock.now();
    const aborted = () => new Aborted(`${what}: aborted by the caller`, { cause: signal?.reason });
    const closed = () => new Unavailable(`${what}: this client was closed`);
    if (this.#closed.signal.aborted) return Promise.reject(closed());
    if (signal?.aborted) return Promise.reject(aborted());

    return new Promise((resolve, reject) => {
      const request = this.#request(url, { method, headers, agent: this.#agent });
      const cancelDeadline = this.#clock.schedule(timeoutMs, () =>
        fail(new Timeout(`${what}: no complete answer from ${this.server} within ${timeoutMs / 1000} s`)),
      );
      const onAbort = () => fail(aborted());
      const onClose = () => fail(closed());
      const settle = () => {
        cancelDeadline();
        signal?.removeEventListener('abort', onAbort);
        this.#closed.signal.removeEventListener('abort', onClose);
      };
      const fail = (error: Error) => {
        settle();
        request.destroy();
        reject(error);
      };
      this.#closed.signal.addEventListener('abort', onClose, { once: true });
      signal?.addEventListener('abort', onAbort, { once: true });

      let answer: http.IncomingMessage | undefined;
      request.on('error', (cause: NodeJS.ErrnoException) => {
        // slurmrestd 26.05 writes some error responses twice, the second after "Connection: Close": the first one counts.
        if (answer?.complete) return;
        const message = `${what}: cannot reach slurmrestd at ${this.server} (${cause.code ?? cause.message})`;
        fail(
          answer === undefined && request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(cause.code ?? '')
            ? new StaleConnection(message, { cause })
            : new Unavailable(message, { cause }),
        );
      });
      request.on('response', (response) => {
        answer = response;
        const contentType = response.headers['content-type'] ?? '';
        const status = response.statusCode ?? 0;
        // Only a successful JSON response is split; errors are small and read as a whole.
        const list = status === 200 && contentType.includes('json') ? exchange.list : undefined;
        const splitter = list && new ElementSplitter(list);
        const chunks: Buffer[] = [];
        let bytes = 0;
        let stretchBegan = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxBytes)
            return fail(new ProtocolError(`${what}: the answer is longer than ${maxBytes} bytes`));
          try {
            if (splitter === undefined) return void chunks.push(chunk);
            const now = this.#clock.now();
            if (now - stretchBegan > stretchMs) {
              // The kernel buffers megabytes: without a pause they would all be processed in one turn of the event loop.
              stretchBegan = now;
              response.pause();
              setImmediate(() => {
                stretchBegan = this.#clock.now();
                response.resume();
              });
            }
            splitter.write(chunk);
          } catch (cause) {
            fail(
              cause instanceof SlurmError
                ? cause
                : new ProtocolError(`${what}: the answer is not valid JSON`, { cause, status }),
            );
          }
        });
        response.on('error', (cause: Error) =>
          fail(
            new Unavailable(`${what}: the connection to ${this.server} broke in the middle of the answer`, {
              cause,
            }),
          ),
        );
        response.on('end', () => {
          settle();
          const text = splitter ? splitter.end() : Buffer.concat(chunks).toString('utf8');
          resolve({ status, contentType, text, bytes, beganAt });
        });
      });
      request.end(body);
    });
  }
}

class StaleConnection extends Unavailable {}

function parseServer(server: string | URL): URL {
  let url: URL;
  try {
    url = new URL(server);
  } catch (cause) {
    throw new InvalidInput(`server "${String(server)}" is not an address; write it like http://host:6820`, {
      cause,
    });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new InvalidInput(`server "${url.origin}" must begin with http:// or https://`);
  if (url.username !== '' || url.password !== '')
    throw new InvalidInput('server must not hold a user name or password; give a token provider instead');
  return url;
}
