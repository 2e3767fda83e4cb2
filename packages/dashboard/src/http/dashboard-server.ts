/** The HTTP server: who asks, whether they may, then the route. Every answer has the same headers, every write an audit line. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Access, ClusterRef } from '../identity/access.ts';
import type { Login } from '../identity/login.ts';
import type { Session, Sessions, StreamOwner } from '../identity/sessions.ts';
import { endedCookie, readSessionCookie, sessionCookie } from './cookie.ts';
import { compress, PreparedJson } from './prepared-json.ts';
import { readJsonBody } from './read-body.ts';
import { type Answer, type Matched, matchRoute, type Route } from './routes.ts';
import { contentTypeRefusal, crossSiteRefusal, hostRefusal } from './same-origin.ts';
import { securityHeaders } from './security-headers.ts';
import type { StaticFiles } from './static-files.ts';
import type { WriteLimit } from './write-limit.ts';

/** One line for every write: who did what to which cluster, and the answer. Never a body: scripts may hold secrets. */
export interface AuditLine {
  readonly user: string;
  readonly action: string;
  readonly cluster: string;
  readonly status: number;
  readonly from: string;
}

export interface DashboardServerOptions {
  /** Names under which browsers reach it, with the port where that is not the usual one. `any` on a pod network behind a proxy that checks. */
  readonly hosts: readonly string[] | 'any';
  /** Browsers come over TLS: cookies and headers rely on it. */
  readonly secure: boolean;
  readonly sessions: Sessions;
  readonly access: Access;
  readonly login: Pick<Login, 'withToken' | 'byProxy'>;
  readonly routes: readonly Route[];
  /** Answers `GET …/stream` of a cluster, instead of a route. */
  readonly openStream: (
    cluster: ClusterRef,
    owner: StreamOwner,
    response: ServerResponse,
  ) => Promise<void> | void;
  readonly onLogout: (session: Session) => void;
  readonly files: StaticFiles;
  readonly writeLimit: WriteLimit;
  readonly audit: (line: AuditLine) => void;
  readonly onError: (error: unknown, path: string) => void;
  /** Known clusters, so that a name from a URL reaches nothing else. */
  readonly hasCluster: (cluster: ClusterRef) => boolean;
  /** Default one minute. */
  readonly idleTimeoutMs?: number;
}

const requestTimeoutMs = 15_000;
/** A connection on which nothing moves, such as that of a browser that does not read its answer. Streams have their heartbeat. */
const idleTimeoutMs = 60_000;
const handlerTimeoutMs = 30_000;
const mostConnections = 4_000;
const worthCompressing = 1_400;
const longestAction = 200;

const streamRoute: Route = {
  method: 'GET',
  path: '/api/clusters/:namespace/:cluster/stream',
  rights: ['see'],
  handle: () => said(404, 'A stream is no route.'),
};

export class DashboardServer implements AsyncDisposable {
  readonly #options: DashboardServerOptions;
  readonly #server: Server;
  readonly #stop = new AbortController();

  constructor(options: DashboardServerOptions) {
    this.#options = options;
    this.#server = createServer(
      { maxHeaderSize: 32_768 },
      (request, response) => void this.#serve(request, response),
    );
    // Of a request, not of a stream: those live as long as the browser looks at the page.
    this.#server.requestTimeout = requestTimeoutMs;
    this.#server.headersTimeout = requestTimeoutMs;
    this.#server.maxConnections = mostConnections;
    this.#server.timeout = options.idleTimeoutMs ?? idleTimeoutMs;
  }

  async listen(port: number, host: string): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the dashboard is stopping'));
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(securityHeaders(this.#options.secure)))
      if (value !== undefined) response.setHeader(name, value);
    const [path = '/', search = ''] = (request.url ?? '/').split('?', 2);
    try {
      await this.#answer(request, response, path, search);
    } catch (error) {
      this.#options.onError(error, path);
      if (response.headersSent) response.destroy();
      else
        await send(request, response, said(503, 'The dashboard cannot answer now. Try again in a moment.'));
    }
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    search: string,
  ): Promise<void> {
    const { method = 'GET', headers } = request;
    const { hosts, files } = this.#options;
    // Health before anything else: a kubelet asks by address.
    if (path === '/healthz') return send(request, response, { status: 200, body: { status: 'ok' } });
    if (hosts !== 'any') {
      const refusal = hostRefusal(headers, hosts);
      if (refusal !== undefined) return send(request, response, said(421, refusal));
    }
    if (!path.startsWith('/api/')) return files.serve(request, response, path);
    if (method === 'GET') return this.#read(request, response, path, new URLSearchParams(search));
    if (method === 'POST') return this.#write(request, response, path, new URLSearchParams(search));
    return send(request, response, said(405, 'Use GET or POST.'));
  }

  async #read(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<void> {
    const session = this.#sessionOf(request);
    if (session === undefined) return send(request, response, said(401, 'Log in first.'));
    const stream = matchRoute([streamRoute], 'GET', path);
    if (typeof stream !== 'string') return this.#stream(request, response, session, stream);
    return send(request, response, await this.#route('GET', request, path, query, session, undefined));
  }

  async #write(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<void> {
    const { hosts, login, sessions, secure, writeLimit, onLogout } = this.#options;
    const own = hosts === 'any' ? [(request.headers.host ?? '').toLowerCase()] : hosts;
    const refusal = crossSiteRefusal(request.headers, own) ?? contentTypeRefusal(request.headers);
    if (refusal !== undefined) return send(request, response, said(403, refusal));
    const body = await readJsonBody(request);
    if (body.kind === 'refused') return send(request, response, said(body.status, body.why));
    if (path === '/api/login') {
      const from = request.socket.remoteAddress ?? '';
      const result = await login.withToken(body.value, from, this.#stop.signal);
      if (result.kind === 'refused') return send(request, response, said(result.status, result.why));
      response.setHeader('Set-Cookie', sessionCookie(result.sessionId, { secure }));
      return send(request, response, { status: 200, body: { user: result.user } });
    }
    const session = this.#sessionOf(request);
    if (session === undefined) return send(request, response, said(401, 'Log in first.'));
    if (path === '/api/logout') {
      const id = readSessionCookie(request.headers.cookie, { secure });
      if (id !== undefined) sessions.end(id);
      onLogout(session);
      response.setHeader('Set-Cookie', endedCookie({ secure }));
      return send(request, response, { status: 200, body: {} });
    }
    const wait = writeLimit.waitOf(session.user.username);
    if (wait > 0) {
      response.setHeader('Retry-After', String(Math.ceil(wait / 1000)));
      return send(request, response, said(429, 'Too many changes in a short time. Wait a moment.'));
    }
    const answer = await this.#route('POST', request, path, query, session, body.value);
    this.#options.audit({
      user: session.user.username,
      action: path.replace(/^\/api\/clusters\/[^/]+\/[^/]+\//, '').slice(0, longestAction),
      cluster: /^\/api\/clusters\/([^/]+\/[^/]+)\//.exec(path)?.[1] ?? '',
      status: answer.status,
      from: request.socket.remoteAddress ?? '',
    });
    return send(request, response, answer);
  }

  /** Rights are checked before the handler runs, and before anything of the cluster is looked at. */
  async #route(
    method: string,
    request: IncomingMessage,
    path: string,
    query: URLSearchParams,
    session: Session,
    body: unknown,
  ): Promise<Answer> {
    const { routes, access, hasCluster } = this.#options;
    const match = matchRoute(routes, method, path);
    if (match === 'not found') return said(404, 'There is no such page.');
    if (match === 'wrong method') return said(405, 'This address does not take this method.');
    const { route, parameters } = match;
    const cluster = { namespace: parameters['namespace'] ?? '', name: parameters['cluster'] ?? '' };
    const gone = new AbortController();
    request.once('close', () => gone.abort());
    const signal = AbortSignal.any([this.#stop.signal, gone.signal, AbortSignal.timeout(handlerTimeoutMs)]);
    for (const right of route.rights)
      if (!(await access.may(session.user, right, cluster, signal)))
        return said(
          403,
          `${session.user.username} may not do this in cluster ${cluster.name} (missing: ${right}).`,
        );
    if (route.rights.length > 0 && !hasCluster(cluster))
      return said(404, `There is no Cluster ${cluster.name} in namespace ${cluster.namespace}.`);
    const ifNoneMatch = request.headers['if-none-match'];
    return route.handle({ session, cluster, parameters, query, body, ifNoneMatch, signal });
  }

  async #stream(
    request: IncomingMessage,
    response: ServerResponse,
    session: Session,
    { parameters }: Matched,
  ): Promise<void> {
    const { sessions, access } = this.#options;
    const cluster = { namespace: parameters['namespace'] ?? '', name: parameters['cluster'] ?? '' };
    const maySee = () => access.may(session.user, 'see', cluster, this.#stop.signal);
    if (!(await maySee()))
      return send(request, response, said(403, `${session.user.username} may not see this cluster.`));
    if (!this.#options.hasCluster(cluster))
      return send(request, response, said(404, 'There is no such cluster.'));
    const { user, expiresAt } = session;
    const id = readSessionCookie(request.headers.cookie, this.#options);
    const isOpen = () => session.viaProxy === true || (id !== undefined && sessions.find(id) !== undefined);
    const owner = { user: user.username, expiresAt, mayGoOn: async () => isOpen() && (await maySee()) };
    await this.#options.openStream(cluster, owner, response);
  }

  #sessionOf(request: IncomingMessage): Session | undefined {
    const { login, sessions, secure } = this.#options;
    const byProxy = login.byProxy(request.headers, request.socket.remoteAddress ?? '');
    if (byProxy !== undefined) return byProxy;
    const id = readSessionCookie(request.headers.cookie, { secure });
    return id === undefined ? undefined : sessions.find(id);
  }
}

export function said(status: number, message: string): Answer {
  return { status, body: { message } };
}

async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const { status, body, etag } = answer;
  if (etag !== undefined) response.setHeader('ETag', etag);
  response.setHeader('Cache-Control', etag === undefined ? 'no-store' : 'private, no-cache');
  // A request whose body was not read to its end.
  if (status === 413) response.setHeader('Connection', 'close');
  if (status === 304) {
    response.writeHead(304).end();
    return;
  }
  const text = body instanceof PreparedJson ? body.plain : Buffer.from(JSON.stringify(body));
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Vary', 'Accept-Encoding, Cookie');
  if (
    text.length < worthCompressing ||
    !/\bbr\b/.test(request.headers['accept-encoding']?.toString() ?? '')
  ) {
    response.writeHead(status, { 'Content-Length': text.length }).end(text);
    return;
  }
  const packed = await (body instanceof PreparedJson ? body.packed() : compress(text));
  response.writeHead(status, { 'Content-Encoding': 'br', 'Content-Length': packed.length }).end(packed);
}
