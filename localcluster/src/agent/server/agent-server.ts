/** What a node serves to the API server: logs, exec, attach and port-forward. */
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Agent } from '../agent.ts';
import { channelProtocols, joinContainer, joinProcess } from './serve-exec.ts';
import { serveLogs } from './serve-logs.ts';
import {
  forwardProtocol,
  serveForwardChannel,
  servePortForward,
  tunnelProtocol,
} from './serve-port-forward.ts';

export interface ServingCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

interface Route {
  readonly name: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly query: URLSearchParams;
}

export class AgentServer {
  readonly #agent: () => Agent | undefined;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  /** Streams that HTTP has let go of: a server that closes waits for them, and does not end them. */
  readonly #upgraded = new Set<Duplex>();

  private constructor(certificate: ServingCertificate, agent: () => Agent | undefined) {
    this.#agent = agent;
    this.#sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: (offered) =>
        [...channelProtocols, tunnelProtocol].find((protocol) => offered.has(protocol)) ?? false,
    });
    this.#server = createServer(
      { cert: certificate.certificatePem, key: certificate.keyPem, handshakeTimeout: 10_000 },
      (request, response) => {
        const route = routeOf(request);
        const running = agent();
        if (route.name === 'healthz') response.end('ok');
        else if (route.name === 'containerLogs' && running !== undefined)
          void serveLogs(running, route, request, response);
        else {
          response.statusCode = 404;
          response.end('404 page not found\n');
        }
      },
    );
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
  }

  static async listen(
    host: string,
    certificate: ServingCertificate,
    agent: () => Agent | undefined,
  ): Promise<AgentServer> {
    const server = new AgentServer(certificate, agent);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(0, host, resolve);
    });
    return server;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    for (const socket of this.#upgraded) socket.destroy();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#upgraded.add(socket);
    socket.on('close', () => this.#upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    const route = routeOf(request);
    const worker = this.#agent()?.find(route.namespace, route.pod);
    if (worker === undefined) return refuse(socket, 404, `pod "${route.pod}" not found`);
    const protocol = (request.headers.upgrade ?? '').toLowerCase();
    if (protocol === 'spdy/3.1' && route.name === 'portForward') {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${forwardProtocol}\r\n\r\n`,
      );
      const session = servePortForward(worker, {
        send: (bytes) => socket.write(bytes),
        close: () => socket.destroy(),
      });
      socket.on('data', (chunk: Buffer) => session.receive(chunk));
      socket.on('close', () => session.close());
      if (head.length > 0) session.receive(head);
      return;
    }
    if (protocol !== 'websocket')
      return refuse(
        socket,
        400,
        `this node supports WebSocket, not "${protocol}": use kubectl 1.31 or later`,
      );
    if (route.name === 'portForward') {
      this.#sockets.handleUpgrade(request, socket, head, (ws) => {
        if (ws.protocol !== tunnelProtocol) {
          const port = Number(route.query.get('port') ?? route.query.get('ports'));
          return serveForwardChannel(worker, ws, port);
        }
        const session = servePortForward(worker, {
          send: (bytes) => ws.send(bytes),
          close: () => ws.close(),
        });
        ws.on('message', (data) => session.receive(data as Buffer));
        ws.on('close', () => session.close());
      });
      return;
    }
    const live = worker.container(route.container);
    if (live === undefined)
      return refuse(socket, 404, `container "${route.container}" in pod "${route.pod}" does not run`);
    const stdin = route.query.get('input') === '1';
    const tty = route.query.get('tty') === '1' || route.query.get('tty') === 'true';
    this.#sockets.handleUpgrade(request, socket, head, (ws) => {
      if (route.name === 'exec')
        joinProcess(ws, live.running.exec({ command: route.query.getAll('command'), tty }), { stdin, tty });
      else joinContainer(ws, live.running.process, { stdin, stdinOnce: worker.stdinOnce(route.container) });
    });
  }
}

function routeOf(request: IncomingMessage): Route {
  const url = new URL(request.url ?? '/', 'https://node');
  const [, name = '', namespace = '', pod = '', container = ''] = url.pathname
    .split('/')
    .map(decodeURIComponent);
  return { name, namespace, pod, container, query: url.searchParams };
}

function refuse(socket: Duplex, status: number, message: string): void {
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
  );
}
