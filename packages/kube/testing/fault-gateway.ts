/**
 * A proxy between a client and an API server that injects faults: resets, stalled connections, error responses and corrupted watches. It
 * serves plain HTTP to the client, so that faults can be injected per message.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ClusterConfig } from '../src/config/config.ts';
import { LineSplitter } from '../src/transport/line-splitter.ts';

export interface GatewayTarget {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
}

/** What to do with one line of a watch: pass it, drop it, end the connection within or before it, or replace it. */
export type LineFate = 'pass' | 'drop' | 'truncate' | 'cut' | { readonly replace: string };

export class FaultGateway {
  /** Responds in place of the server: status, and seconds for Retry-After. */
  refuse: ((request: GatewayRequest) => { status: number; retryAfter?: number } | undefined) | undefined;
  /** Called for each line of each watch. */
  line: ((line: string, request: GatewayRequest) => LineFate) | undefined;
  /** Delay of each line of a watch in milliseconds. */
  delay = 0;
  /** Received requests, newest last. */
  readonly seen: GatewayRequest[] = [];
  readonly #target: GatewayTarget;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #frozen = false;

  private constructor(target: GatewayTarget) {
    this.#target = target;
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
  }

  static async start(target: GatewayTarget): Promise<FaultGateway> {
    const gateway = new FaultGateway(target);
    await new Promise<void>((resolve) => gateway.#server.listen(0, '127.0.0.1', resolve));
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  config(): ClusterConfig {
    return { server: this.url, namespace: 'default', identity: () => Promise.resolve({}) };
  }

  /** Resets every connection, as a crashed host does. */
  resetAll(): void {
    // A socket that is being closed cannot be reset, and would keep the process from ending.
    for (const socket of this.#sockets) {
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  /** From now on no byte passes in either direction, but connections stay open: as with a lost peer behind a NAT. */
  freeze(): void {
    this.#frozen = true;
  }

  /** Frozen connections stay broken (their bytes are lost); new ones work. */
  thaw(): void {
    this.#frozen = false;
  }

  async stop(): Promise<void> {
    this.resetAll();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '/';
    const seen = { method: request.method ?? 'GET', path, isWatch: path.includes('watch=true') };
    this.seen.push(seen);
    if (this.#frozen) return;
    const refusal = this.refuse?.(seen);
    if (refusal !== undefined) {
      request.resume();
      response.writeHead(refusal.status, {
        'Content-Type': 'application/json',
        ...(refusal.retryAfter === undefined ? {} : { 'Retry-After': String(refusal.retryAfter) }),
      });
      response.end(
        JSON.stringify({ kind: 'Status', status: 'Failure', code: refusal.status, message: 'injected' }),
      );
      return;
    }
    const { ca, cert, key } = this.#target;
    const { host: _, ...headers } = request.headers;
    const upstream = httpsRequest(
      `${this.#target.url}${path}`,
      { method: seen.method, headers, ca, cert, key, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        if (seen.isWatch) this.#pipeWatch(seen, answer, response);
        else answer.pipe(response);
        answer.on('error', () => response.socket?.resetAndDestroy());
      },
    );
    upstream.on('error', () => response.socket?.resetAndDestroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  }

  #pipeWatch(request: GatewayRequest, answer: IncomingMessage, response: ServerResponse): void {
    const lines = new LineSplitter();
    let dead = false;
    const forward = (line: string) => {
      if (this.#frozen) dead = true;
      if (dead) return;
      const fate = this.line?.(line, request) ?? 'pass';
      if (fate === 'drop') return;
      if (fate === 'pass') response.write(`${line}\n`);
      else if (fate === 'cut') response.socket?.resetAndDestroy();
      else if (fate === 'truncate') {
        dead = true;
        response.end(line.slice(0, Math.ceil(line.length / 2)));
      } else response.write(`${fate.replace}\n`);
    };
    response.flushHeaders();
    answer.on('data', (chunk: Buffer) =>
      lines.push(chunk, (bytes) => {
        const line = bytes.toString('utf8');
        if (this.delay === 0) forward(line);
        else setTimeout(() => forward(line), this.delay);
      }),
    );
    answer.on('end', () => {
      if (!dead) response.end();
    });
  }
}
