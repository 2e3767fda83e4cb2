/**
 * Keep-alive connections to one server: replaced when our identity changes or when the network went silent. Requests share a limited
 * number; streams have connections of their own, because a watch keeps its for minutes and would leave none for requests.
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

/** Probes of an idle connection start after this long: a NAT or a dead peer is noticed in minutes, not hours. */
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

  /** Starts a request; nothing is sent before its body is ended. */
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

  /** The next request dials anew. Requests and watches under way keep their sockets until they end. */
  renew(): void {
    for (const agent of this.#takeAgents()) {
      for (const idle of Object.values(agent.freeSockets)) for (const socket of idle ?? []) socket.destroy();
      agent.maxFreeSockets = 0;
    }
  }

  /** Ends every connection, used or not. */
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
      // Idle connections are reused newest first, so that a quiet program lets the others go.
      scheduling: 'lifo' as const,
      ...(wantsProxy(proxy) && !isExempt(this.#host, proxy) ? { proxyEnv: proxy } : {}),
    };
    if (this.url.protocol === 'http:') return new HttpAgent(shared);
    return new HttpsAgent({
      ...shared,
      ALPNProtocols: ['http/1.1'],
      // Made once. As options of the agent they would be read for each connection, and be part of the name, kilobytes long, under
      // which each request looks for a free one.
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

function wantsProxy(env: Readonly<Record<string, string | undefined>>): boolean {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => (env[name] ?? '') !== '');
}

/** Calls `ready` when the request's socket can carry bytes (after the handshake), at once where it is reused. */
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
 * Asks `guard` at the very moment at which the next bytes are handed to the kernel. Between `request.end()` and that
 * moment headers are rendered and writes are gathered until the next tick: time enough for a process to be stopped in.
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
