/** The HTTP server of a manager: health for the kubelet, metrics for Prometheus, details for clients in the same pod. */
import { createServer, type Server } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import type { ServingCertificate } from '../certificates/certificate-source.ts';

export interface StatusAddress {
  /** 0 selects a free port. */
  readonly port: number;
  /** @default all addresses */
  readonly host?: string;
}

export interface StatusRequest {
  readonly path: string;
  readonly query: string;
  /** Whether the client connects over loopback (from the same pod). */
  readonly local: boolean;
  /** The Authorization header. */
  readonly authorization: string | undefined;
}

export interface StatusAnswer {
  readonly status: number;
  readonly text: string;
  /** @default text/plain, in the version that Prometheus reads */
  readonly type?: string;
}

export type StatusRoute = (
  request: StatusRequest,
) => StatusAnswer | undefined | Promise<StatusAnswer | undefined>;

export interface StatusServing {
  readonly routes: readonly StatusRoute[];
  /** Serve over TLS with this certificate. */
  readonly certificate?: ServingCertificate;
  /** Support HTTP/2 too; requires a certificate. */
  readonly http2?: boolean;
}

const PLAIN = 'text/plain; version=0.0.4; charset=utf-8';

/** The common part of HTTP/1 and HTTP/2 requests. */
interface Incoming {
  readonly url?: string | undefined;
  readonly headers: { readonly authorization?: string | undefined };
  readonly socket: { readonly remoteAddress?: string | undefined };
}
interface Outgoing {
  writeHead(status: number, headers: Record<string, string>): { end(text: string): unknown };
}

/** Serves until the signal is aborted; resolves with the port when it listens. */
export async function serveStatus(
  address: StatusAddress,
  serving: StatusServing,
  signal: AbortSignal,
): Promise<{ port: number; closed: Promise<void> }> {
  const answer = async (request: Incoming, response: Outgoing) => {
    const { status, text, type } = await ask(serving.routes, request);
    response.writeHead(status, { 'content-type': type ?? PLAIN }).end(text);
  };
  const { server, sever } = makeServer(serving, (request, response) => void answer(request, response));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause) =>
    reject(new Error(`cannot serve health and metrics on port ${address.port}`, { cause })),
  );
  server.listen(address.port, address.host, resolve);
  await promise;
  const closed = new Promise<void>((done) => {
    const close = () => {
      server.close(() => done());
      sever();
    };
    signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
  });
  return { port: (server.address() as AddressInfo).port, closed };
}

async function ask(routes: readonly StatusRoute[], request: Incoming): Promise<StatusAnswer> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
  const asked: StatusRequest = {
    path,
    query,
    local: isLoopback(request.socket.remoteAddress),
    authorization: request.headers.authorization,
  };
  try {
    for (const route of routes) {
      const found = await route(asked);
      if (found !== undefined) return found;
    }
  } catch {
    return { status: 500, text: 'internal error\n' };
  }
  return { status: 404, text: 'not found\n' };
}

function makeServer(
  { certificate, http2 }: StatusServing,
  answer: (request: Incoming, response: Outgoing) => void,
): { server: NetServer; sever: () => void } {
  if (certificate !== undefined && http2 === true) {
    const server = createSecureServer({ ...certificate, allowHTTP1: true }, answer);
    const sessions = new Set<{ destroy(): void }>();
    server.on('session', (session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
    });
    return { server, sever: () => sessions.forEach((session) => session.destroy()) };
  }
  const server: Server =
    certificate === undefined ? createServer(answer) : createTlsServer(certificate, answer);
  server.requestTimeout = 10_000;
  return { server, sever: () => server.closeAllConnections() };
}

function isLoopback(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address ?? '');
}
