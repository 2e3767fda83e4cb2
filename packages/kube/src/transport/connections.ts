/**
 * Keep-alive connections to one server, replaced when the credentials change or a connection times out. Requests share a limited number;
 * streams have their own connections, because watches would otherwise occupy all of them.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { ClusterConfig, Identity } from '../config/config.ts';
import { isExempt } from './no-proxy.ts';

/** TCP keep-alive probes start after this long: a lost peer is detected in minutes, not hours. */
const KEEP_ALIVE_PROBE = 15_000;

type TlsPart = Pick<Identity, 'ca' | 'cert' | 'key'>;
export type Use = 'request' | 'stream';

export class Connections {
  readonly url: URL;
  readonly #config: ClusterConfig;
  readonly #maxSockets: number;
  #agents: Readonly<Record<Use, HttpAgent>> | undefined;
  #for: TlsPart = {};

  constructor(config: ClusterConfig, maxSockets: number) {
    this.#config = config;
    this.#maxSockets = maxSockets;
    this.url = new URL(config.server);
  }

  get #host(): string {
    return this.url.hostname.replace(/^\[|\]$/g, '');
  }

  /** Creates a request; nothing is sent before its `end()`. */
  request(identity: Identity, options: RequestOptions, use: Use): ClientRequest {
    const { url } = this;
    const all: RequestOptions = {
      ...options,
      host: this.#host,
      port: url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : url.port,
      path: `${url.pathname === '/' ? '' : url.pathname}${options.path ?? '/'}`,
      agent: this.agent(identity, use),
    };
    return url.protocol === 'http:' ? httpRequest(all) : httpsRequest(all);
  }

  agent(identity: Identity, use: Use): HttpAgent {
    const same =
      identity.ca === this.#for.ca && identity.cert === this.#for.cert && identity.key === this.#for.key;
    if (this.#agents !== undefined && same) return this.#agents[use];
    this.renew();
    this.#for = { ...identity };
    this.#agents = {
      request: this.#makeAgent(identity, this.#maxSockets),
      stream: this.#makeAgent(identity, Number.POSITIVE_INFINITY),
    };
    return this.#agents[use];
  }

  /** The next request opens a new connection. Running requests and watches keep their sockets until they end. */
  renew(): void {
    for (const agent of this.#takeAgents()) {
      for (const idle of Object.values(agent.freeSockets)) for (const socket of idle ?? []) socket.destroy();
      agent.maxFreeSockets = 0;
    }
  }

  /** Closes every connection, used or idle. */
  destroy(): void {
    for (const agent of this.#takeAgents()) agent.destroy();
  }

  #takeAgents(): readonly HttpAgent[] {
    const agents = this.#agents;
    this.#agents = undefined;
    return agents === undefined ? [] : [agents.request, agents.stream];
  }

  #makeAgent(identity: Identity, maxSockets: number): HttpAgent {
    const config = this.#config;
    const proxy =
      config.proxyUrl === undefined
        ? process.env
        : { HTTPS_PROXY: config.proxyUrl, HTTP_PROXY: config.proxyUrl, NO_PROXY: '' };
    const shared = {
      keepAlive: true,
      keepAliveMsecs: KEEP_ALIVE_PROBE,
      maxSockets,
      // Idle connections are reused newest first, so that the others time out.
      scheduling: 'lifo' as const,
      ...(usesProxy(proxy) && !isExempt(this.#host, proxy) ? { proxyEnv: proxy } : {}),
    };
    if (this.url.protocol === 'http:') return new HttpAgent(shared);
    return new HttpsAgent({
      ...shared,
      ALPNProtocols: ['http/1.1'],
      // Created once. As options of the agent they would be parsed for each connection, and be part of the agent's key, kilobytes long,
      // that each request looks up.
      secureContext: createSecureContext({
        ...(identity.ca === undefined ? {} : { ca: identity.ca }),
        ...(identity.cert === undefined ? {} : { cert: identity.cert }),
        ...(identity.key === undefined ? {} : { key: identity.key }),
      }),
      ...(config.serverName === undefined ? {} : { servername: config.serverName }),
      ...(config.insecure === true ? { rejectUnauthorized: false } : {}),
    });
  }
}

function usesProxy(env: Readonly<Record<string, string | undefined>>): boolean {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => (env[name] ?? '') !== '');
}

/** Calls `ready` when the request's socket is connected (after the TLS handshake), at once if it is reused. */
export function onceConnected(
  request: ClientRequest,
  secure: boolean,
  ready: (socket: Socket) => void,
): void {
  request.once('socket', (socket: Socket) => {
    if (socket.connecting || (secure && !request.reusedSocket && !handshaken(socket)))
      socket.once(secure ? 'secureConnect' : 'connect', () => ready(socket));
    else ready(socket);
  });
}

function handshaken(socket: Socket): boolean {
  return 'getCipher' in socket && (socket as { secureConnecting?: boolean }).secureConnecting === false;
}

/**
 * Calls `guard` right before the next bytes are passed to the kernel. Between `request.end()` and that moment Node renders headers and
 * buffers writes until the next tick: time in which the process may be suspended.
 */
export function guardNextWrite(socket: Socket, guard: () => void): void {
  const restore = () => {
    Reflect.deleteProperty(socket, '_write');
    Reflect.deleteProperty(socket, '_writev');
  };
  const checked =
    <Arguments extends unknown[]>(write: (...args: Arguments) => void) =>
    (...args: Arguments) => {
      restore();
      try {
        guard();
      } catch (error) {
        (args.at(-1) as (error: unknown) => void)(error);
        return;
      }
      write.apply(socket, args);
    };
  const { _write, _writev } = socket;
  socket._write = checked(_write);
  if (_writev !== undefined) socket._writev = checked(_writev);
}
