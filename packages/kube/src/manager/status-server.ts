/** The plain HTTP server of a manager: health for the kubelet, metrics for Prometheus. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StatusAddress {
  /** 0 takes a free one. */
  readonly port: number;
  /** @default all addresses */
  readonly host?: string;
}

export type StatusRoute = (
  path: string,
) => { status: number; text: string } | undefined | Promise<{ status: number; text: string } | undefined>;

/** Serves until the signal is aborted; resolves with the port when it listens. */
export async function serveStatus(
  address: StatusAddress,
  routes: readonly StatusRoute[],
  signal: AbortSignal,
): Promise<{ port: number; closed: Promise<void> }> {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    let found: { status: number; text: string } | undefined;
    try {
      for (const route of routes) if ((found ??= await route(path)) !== undefined) break;
    } catch {
      found = { status: 500, text: 'internal error\n' };
    }
    const { status, text } = found ?? { status: 404, text: 'not found\n' };
    response.writeHead(status, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.requestTimeout = 10_000;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause) =>
    reject(new Error(`cannot serve health and metrics on port ${address.port}`, { cause })),
  );
  server.listen(address.port, address.host, resolve);
  await promise;
  const closed = new Promise<void>((done) => {
    const close = () => {
      server.close(() => done());
      server.closeAllConnections();
    };
    signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
  });
  return { port: (server.address() as AddressInfo).port, closed };
}
