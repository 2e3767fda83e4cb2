/** The HTTPS server for admission and conversion webhooks. Certificates are replaced while it runs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { CertificateSource } from '../certificates/certificate-source.ts';
import { explain } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import type { Metrics } from '../manager/metrics.ts';
import type { KubeObject } from '../objects/object.ts';
import {
  type AdmissionResponse,
  type AdmissionReview,
  admissionAnswer,
  type ConversionReview,
  type Converter,
  conversionAnswer,
  type Mutator,
  type Validator,
} from './admission.ts';

export interface WebhookServerOptions {
  readonly certificates: CertificateSource;
  /** @default 9443; 0 selects a free port */
  readonly port?: number;
  readonly host?: string;
  /** Support HTTP/2 too. @default false */
  readonly http2?: boolean;
  readonly log?: Log;
  readonly metrics?: Metrics;
}

type Answerer = (body: string, signal: AbortSignal) => Promise<object>;

/** A review contains an object at most twice, and objects are smaller than 3 MiB. */
const BODY_LIMIT = 8 << 20;
/** The API server waits at most 30 s. */
const MAX_TIMEOUT = 30_000;

class RequestError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class WebhookServer {
  readonly name = 'webhook server';
  readonly #options: WebhookServerOptions;
  readonly #log: Log;
  readonly #routes = new Map<string, Answerer>();
  #port: number | undefined;

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#log = (options.log ?? silent).child({ part: 'webhook' });
  }

  /** The port; undefined until the first certificate is available. */
  get port(): number | undefined {
    return this.#port;
  }

  validate<T extends KubeObject>(path: string, validator: Validator<T>): this {
    return this.#admission(path, validator as Validator);
  }

  mutate<T extends KubeObject>(path: string, mutator: Mutator<T>): this {
    // The API server sends only objects of the kind that the webhook is registered for.
    return this.#admission(path, mutator as unknown as Mutator);
  }

  convert(path: string, converter: Converter): this {
    return this.#route(path, async (body) => {
      const review = parse(body, 'ConversionReview') as ConversionReview;
      try {
        const { objects = [], desiredAPIVersion = '' } = review.request ?? {};
        return conversionAnswer(review, {
          objects: await Promise.all(objects.map(async (object) => converter(object, desiredAPIVersion))),
        });
      } catch (error) {
        this.#log.error({ err: error, path }, 'conversion failed');
        return conversionAnswer(review, { failure: explain(error) });
      }
    });
  }

  /** Serves until the signal is aborted, then completes running requests. */
  async run(signal: AbortSignal): Promise<void> {
    const { server, closeIdle } = this.#makeServer();
    const failed = Promise.withResolvers<never>();
    server.on('error', (cause) => failed.reject(new Error('the webhook server failed', { cause })));
    let opening: Promise<void> | undefined;
    const following = this.#options.certificates.run((certificate) => {
      if (signal.aborted) return;
      // Checked before use: a key that does not match throws here, and the old pair stays in use.
      createSecureContext(certificate);
      server.setSecureContext(certificate);
      if (opening === undefined)
        opening = new Promise((resolve) => {
          server.listen(this.#options.port ?? 9443, this.#options.host, () => {
            this.#listening(server);
            resolve();
          });
        });
      else this.#log.info({}, 'serving with a new certificate');
    }, signal);
    await Promise.race([following, failed.promise]);
    if (opening === undefined) return;
    // A server that is about to listen cannot be closed yet, and would keep the program running.
    await Promise.race([opening, failed.promise]);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      closeIdle();
    });
  }

  #makeServer(): { server: Server | Http2SecureServer; closeIdle: () => void } {
    if (this.#options.http2 === true) {
      const server = createSecureServer(
        { allowHTTP1: true },
        (request, response) =>
          // The compatibility API of node:http2 has the same shape but another class.
          void this.#answer(request as unknown as IncomingMessage, response as unknown as ServerResponse),
      );
      const sessions = new Set<ServerHttp2Session>();
      server.on('session', (session) => {
        sessions.add(session);
        session.once('close', () => sessions.delete(session));
      });
      // Completes running requests and accepts no new ones.
      return { server, closeIdle: () => sessions.forEach((session) => session.close()) };
    }
    const server = createServer({}, (request, response) => void this.#answer(request, response));
    server.requestTimeout = MAX_TIMEOUT;
    server.keepAliveTimeout = 90_000;
    return { server, closeIdle: () => server.closeIdleConnections() };
  }

  #listening(server: Server | Http2SecureServer): void {
    this.#port = (server.address() as AddressInfo).port;
    this.#log.info({ port: this.#port }, 'webhook server listens');
  }

  #admission(path: string, handler: Validator | Mutator): this {
    return this.#route(path, async (body, signal) => {
      const review = parse(body, 'AdmissionReview') as AdmissionReview;
      if (review.request === undefined) throw new RequestError(400, 'the review has no request');
      let answer: AdmissionResponse | { object: object };
      try {
        answer = await handler(review.request, signal);
      } catch (error) {
        this.#log.error({ err: error, path, object: review.request.name }, 'an admission handler threw');
        answer = { allowed: false, code: 500, reason: 'InternalError', message: explain(error) };
      }
      return admissionAnswer(review, answer as AdmissionResponse);
    });
  }

  #route(path: string, answerer: Answerer): this {
    if (!path.startsWith('/')) throw new TypeError(`webhook path "${path}" must start with /`);
    if (this.#routes.has(path)) throw new TypeError(`webhook path "${path}" is taken`);
    this.#routes.set(path, answerer);
    return this;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = performance.now();
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const route = this.#routes.get(path);
    const deadline = AbortSignal.timeout(timeoutOf(request.url ?? ''));
    let status = 200;
    let text: string;
    try {
      if (path === '/healthz') text = 'ok';
      else {
        if (route === undefined) throw new RequestError(404, `nothing is served at ${path}`);
        if (request.method !== 'POST') throw new RequestError(405, 'use POST');
        text = JSON.stringify(await beforeDeadline(route(await collect(request), deadline), deadline));
      }
    } catch (error) {
      status = error instanceof RequestError ? error.status : 500;
      text = error instanceof RequestError ? error.message : 'internal error';
      if (status === 500) this.#log.error({ err: error, path }, 'review failed');
    }
    if (route !== undefined) this.#options.metrics?.webhook(path, status, (performance.now() - began) / 1000);
    response.writeHead(status, {
      'Content-Type': status === 200 && route !== undefined ? 'application/json' : 'text/plain',
    });
    response.end(text);
  }
}

/** The timeout that the API server sends, less some time for the response. */
function timeoutOf(url: string): number {
  const seconds = /[?&]timeout=(\d+(?:\.\d+)?)s/.exec(url)?.[1];
  return seconds === undefined
    ? MAX_TIMEOUT
    : Math.max(100, Math.min(MAX_TIMEOUT, Number(seconds) * 1000 - 250));
}

function beforeDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new RequestError(504, 'the handler took too long'));
  deadline.addEventListener('abort', late, { once: true });
  return Promise.race([work, promise]).finally(() => deadline.removeEventListener('abort', late));
}

async function collect(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > BODY_LIMIT) throw new RequestError(413, `a review of more than ${BODY_LIMIT} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(body: string, kind: string): unknown {
  let review: { kind?: string } | null;
  try {
    review = JSON.parse(body) as typeof review;
  } catch {
    throw new RequestError(400, 'the body is not JSON');
  }
  if (review?.kind !== kind) throw new RequestError(400, `the body is not a ${kind}`);
  return review;
}
