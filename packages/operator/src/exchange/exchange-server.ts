/** The HTTPS server of the token exchange. One path, small requests, short deadlines. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { tokenExchange } from '@slurm-operator/api';
import { type CertificateSource, explain, type Log } from '@slurm-operator/kube';
import type { ExchangeAnswer, ExchangeRequest } from './exchange-token.ts';

export interface ExchangeServerOptions {
  readonly port: number;
  readonly host?: string | undefined;
  readonly certificates: CertificateSource;
  readonly exchange: (request: ExchangeRequest) => Promise<ExchangeAnswer>;
  readonly log: Log;
}

/** A request names a namespace and a cluster, and perhaps a person with their groups. */
const bodyLimit = 65_536;
const requestTimeout = 10_000;
/** Requests at once; others are told to come back. */
const atOnce = 32;

export class ExchangeServer {
  readonly name = 'token exchange';
  readonly #options: ExchangeServerOptions;
  #port: number | undefined;
  #running = 0;

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
      { minVersion: 'TLSv1.2', maxHeaderSize: 16_384 },
      (request, response) => void this.#serve(request, response),
    );
    server.requestTimeout = requestTimeout;
    server.headersTimeout = requestTimeout;
    server.maxConnections = 4 * atOnce;
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

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request);
    response.writeHead(answer.status, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...(answer.retryAfterMs === undefined
        ? {}
        : { 'Retry-After': String(Math.ceil(answer.retryAfterMs / 1000)) }),
      // A body that is too long is not read to its end.
      ...(answer.status === 413 ? { Connection: 'close' } : {}),
    });
    response.end(JSON.stringify(answer.body));
  }

  async #answer(request: IncomingMessage): Promise<ExchangeAnswer> {
    const said = (status: number, message: string): ExchangeAnswer => ({ status, body: { message } });
    if ((request.url ?? '').split('?', 1)[0] !== tokenExchange.path) return said(404, 'not found');
    if (request.method !== 'POST') return said(405, 'use POST');
    if (this.#running >= atOnce) return { ...said(429, 'too many requests'), retryAfterMs: 1_000 };
    this.#running += 1;
    try {
      const body = await collect(request);
      if (body === undefined) return said(413, `a request has at most ${bodyLimit} bytes`);
      return await this.#options.exchange({
        bearer: /^Bearer (\S{1,8192})$/i.exec(request.headers.authorization ?? '')?.[1],
        headers: Object.keys(request.headers),
        body,
        from: request.socket.remoteAddress ?? '',
      });
    } catch (error) {
      this.#options.log.error({ reason: explain(error) }, 'token exchange failed');
      return said(503, 'the exchange cannot answer now');
    } finally {
      this.#running -= 1;
    }
  }
}

async function collect(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > bodyLimit) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
