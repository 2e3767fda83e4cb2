/** The HTTPS server of the token exchange. One path, small requests, short deadlines, and limits before it is known who asks. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { tokenExchange } from '@slurm-operator/api';
import { type CertificateSource, explain, type Log } from '@slurm-operator/kube';
import type { ExchangeAnswer, ExchangeRequest } from './exchange-token.ts';
import { isLoopback, type RequestLimits } from './request-limits.ts';

export interface ExchangeServerOptions {
  readonly port: number;
  readonly host?: string | undefined;
  readonly certificates: CertificateSource;
  readonly exchange: (request: ExchangeRequest) => Promise<ExchangeAnswer>;
  readonly limits: Pick<RequestLimits, 'waitOfAddress' | 'giveBack'>;
  readonly now: () => number;
  readonly log: Log;
  /** Until a connection is secured, its headers and its body are there, each, in milliseconds. @default 10_000 */
  readonly patience?: number;
}

/** A request names a namespace and a cluster, and perhaps a person with their groups. */
const bodyLimit = 65_536;
const patience = 10_000;
/** Requests at once; others are told to come back. */
const atOnce = 32;
const connections = { all: 4 * atOnce, local: 3 * atOnce, address: atOnce / 2 };
/** Floods are logged this often. */
const logEvery = 10_000;

export class ExchangeServer {
  readonly name = 'token exchange';
  readonly #options: ExchangeServerOptions;
  #port: number | undefined;
  #running = 0;
  /** Open connections by address. */
  readonly #open = new Map<string, number>();
  #refused = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ExchangeServerOptions) {
    this.#options = options;
  }

  /** The port; undefined until the first certificate is available. */
  get port(): number | undefined {
    return this.#port;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { port, host, certificates, log } = this.#options;
    const server = createServer(
      {
        minVersion: 'TLSv1.2',
        maxHeaderSize: 16_384,
        handshakeTimeout: this.#patience,
        headersTimeout: this.#patience,
        requestTimeout: 2 * this.#patience,
        // The default looks after half a minute.
        connectionsCheckingInterval: Math.min(1_000, this.#patience),
      },
      (request, response) => void this.#serve(request, response),
    );
    server.maxConnections = connections.all;
    server.on('connection', (socket: Socket) => this.#admit(socket));
    let opening: Promise<void> | undefined;
    const failed = Promise.withResolvers<never>();
    server.on('error', (cause) => failed.reject(new Error('the token exchange failed', { cause })));
    const following = certificates.run((certificate) => {
      if (signal.aborted) return;
      createSecureContext(certificate);
      server.setSecureContext(certificate);
      opening ??= new Promise((resolve) => {
        server.listen(port, host, () => {
          this.#port = (server.address() as AddressInfo).port;
          log.info({ port: this.#port }, 'token exchange listens');
          resolve();
        });
      });
    }, signal);
    await Promise.race([following, failed.promise]);
    if (opening === undefined) return;
    await Promise.race([opening, failed.promise]);
    await closed(server);
  }

  get #patience(): number {
    return this.#options.patience ?? patience;
  }

  /** One address must not hold every connection. */
  #admit(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const open = (this.#open.get(address) ?? 0) + 1;
    if (open > (isLoopback(address) ? connections.local : connections.address)) {
      this.#noteRefusal(address);
      socket.destroy();
      return;
    }
    this.#open.set(address, open);
    socket.once('close', () => {
      const left = (this.#open.get(address) ?? 1) - 1;
      if (left > 0) this.#open.set(address, left);
      else this.#open.delete(address);
    });
  }

  #noteRefusal(from: string): void {
    this.#refused += 1;
    const now = this.#options.now();
    if (Math.abs(now - this.#loggedAt) < logEvery) return;
    this.#options.log.warn({ from, refused: this.#refused }, 'no Slurm tokens: too many requests');
    this.#refused = 0;
    this.#loggedAt = now;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const from = request.socket.remoteAddress ?? '';
    const { limits, now } = this.#options;
    const wait = limits.waitOfAddress(from, now());
    let answer: ExchangeAnswer = {
      status: 429,
      body: { message: 'too many requests from this address' },
      retryAfterMs: wait,
    };
    if (wait === 0) {
      answer = await this.#answer(request, from);
      // A refusal for want of room says nothing about who asked.
      if (answer.isKnown === true || answer.status === 429 || answer.status === 503) limits.giveBack(from);
    }
    if (answer.status === 429) this.#noteRefusal(from);
    if (response.destroyed) return;
    response.writeHead(answer.status, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...(answer.retryAfterMs === undefined
        ? {}
        : { 'Retry-After': String(Math.ceil(answer.retryAfterMs / 1000)) }),
      // The rest of the body is not read.
      ...(request.complete ? {} : { Connection: 'close' }),
    });
    response.end(JSON.stringify(answer.body));
  }

  async #answer(request: IncomingMessage, from: string): Promise<ExchangeAnswer> {
    const said = (status: number, message: string): ExchangeAnswer => ({ status, body: { message } });
    if ((request.url ?? '').split('?', 1)[0] !== tokenExchange.path) return said(404, 'not found');
    if (request.method !== 'POST') return said(405, 'use POST');
    // Before it counts as running: who sends slowly takes no place of others.
    const body = await collect(request, this.#patience);
    if (body === 'too long') return said(413, `a request has at most ${bodyLimit} bytes`);
    if (body === 'too slow') return said(408, 'the request took too long to arrive');
    if (this.#running >= atOnce) return { ...said(429, 'too many requests'), retryAfterMs: 1_000 };
    this.#running += 1;
    try {
      return await this.#options.exchange({
        bearer: /^Bearer (\S{1,8192})$/i.exec(request.headers.authorization ?? '')?.[1],
        headers: Object.keys(request.headers),
        body: body.text,
        from,
      });
    } catch (error) {
      this.#options.log.error({ reason: explain(error) }, 'token exchange failed');
      return said(503, 'the exchange cannot answer now');
    } finally {
      this.#running -= 1;
    }
  }
}

function collect(
  request: IncomingMessage,
  patienceMs: number,
): Promise<'too long' | 'too slow' | { readonly text: string }> {
  const { promise, resolve } = Promise.withResolvers<'too long' | 'too slow' | { readonly text: string }>();
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => resolve('too slow'), patienceMs);
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > bodyLimit) resolve('too long');
    else chunks.push(chunk);
  });
  request.once('end', () => resolve({ text: Buffer.concat(chunks).toString('utf8') }));
  // A connection that ends early: no one reads the answer.
  request.once('error', () => resolve('too slow'));
  request.once('close', () => resolve('too slow'));
  return promise.finally(() => clearTimeout(timer));
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
