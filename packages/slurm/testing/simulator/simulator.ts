/** A slurmrestd on a loopback port with a simulated Slurm behind it: for fault and scale tests without root. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { SlurmClient, type SlurmClientOptions } from '../../src/client.ts';
import { type Clock, sleep, systemClock } from '../../src/clock.ts';
import { type ApiVersion, isApiVersion } from '../../src/connection/api-version.ts';
import { signJwt } from '../../src/tokens/jwt.ts';
import { staticToken } from '../../src/tokens/token-provider.ts';
import type { SlurmRelease } from '../slurm-rootfs.ts';
import { bad, type Reply, replyBody } from './reply.ts';
import { Request, SlurmRefusal } from './request.ts';
import { findRoute, versionsOf } from './routes.ts';
import { type ClusterOptions, SimulatedCluster } from './simulated-cluster.ts';
import { type Latency, measuredLatency, noLatency } from './simulator-latency.ts';
import { type Wire, WireFormat } from './wire-format.ts';

export interface SimulatorOptions extends Partial<ClusterOptions> {
  /** Default 26.05. */
  readonly release?: SlurmRelease;
  /** As slurmrestd writes without and with `SLURMRESTD_JSON=compact`. Default `pretty`. */
  readonly json?: 'pretty' | 'compact';
  /** Nodes at the start, a hostlist. */
  readonly nodes?: string;
  /** `measured`: answers take as long as the real ones. Default `none`. */
  readonly latency?: 'measured' | 'none' | Latency;
  readonly clock?: Clock;
  /** How many requests are remembered. Default 100,000. */
  readonly maxRequests?: number;
}

/** What is wrong with slurmrestd or what stands behind it. */
export interface Faults {
  /** slurmctld does not answer slurmrestd. */
  controllerDown: boolean;
  /** slurmdbd does not. */
  databaseDown: boolean;
  /** Every answer takes this much longer. */
  slowMs: number;
  /** Connections are accepted and nothing ever comes back. */
  halfOpen: boolean;
  /** Answers are cut in the middle. */
  truncate: boolean;
  /** Answers are 200 with something that is not JSON. */
  garbage: boolean;
}

/** One request as it came in, for tests that ask who asked what. */
export interface RecordedRequest {
  readonly at: number;
  readonly method: string;
  /** Without the API version: `slurm/nodes/`. */
  readonly path: string;
  readonly query: string;
  readonly body: Wire;
  readonly user: string;
  status: number;
  bytes: number;
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = new Simulator(options);
  await simulator.listen();
  return simulator;
}

export class Simulator implements AsyncDisposable {
  readonly cluster: SimulatedCluster;
  readonly faults: Faults = {
    controllerDown: false,
    databaseDown: false,
    slowMs: 0,
    halfOpen: false,
    truncate: false,
    garbage: false,
  };
  readonly requests: RecordedRequest[] = [];
  /** Jobs that are listed and answered with "unknown" when asked for, as one that ends in between is. */
  readonly hiddenJobs = new Set<number>();
  /** Tokens are checked with it. */
  readonly jwtKey: Buffer;
  readonly #clock: Clock;
  readonly #latency: Latency;
  readonly #release: SlurmRelease;
  readonly #formats = new Map<ApiVersion, WireFormat>();
  readonly #sockets = new Set<Socket>();
  readonly #maxRequests: number;
  readonly #json: 'pretty' | 'compact';
  readonly #clients: SlurmClient[] = [];
  readonly #stopping = new AbortController();
  #server: Server | undefined;
  #port = 0;

  constructor(options: SimulatorOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#release = options.release ?? '26.05';
    this.#maxRequests = options.maxRequests ?? 100_000;
    this.#json = options.json ?? 'pretty';
    const latency = options.latency ?? 'none';
    this.#latency = latency === 'measured' ? measuredLatency : latency === 'none' ? noLatency : latency;
    this.jwtKey = Buffer.from('0123456789abcdef0123456789abcdef');
    this.cluster = new SimulatedCluster({ ...options, release: this.#release, clock: this.#clock });
    if (options.nodes !== undefined) this.cluster.addNodes(options.nodes, { features: ['mini'] });
  }

  get server(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  token(user = 'slurm', lifetimeSeconds = 3600): string {
    return signJwt({ key: this.jwtKey, user, lifetimeSeconds, now: this.#clock.now() });
  }

  client(options: Partial<SlurmClientOptions> & { readonly user?: string } = {}): SlurmClient {
    const { user, ...rest } = options;
    const client = new SlurmClient({ server: this.server, token: staticToken(this.token(user)), ...rest });
    this.#clients.push(client);
    return client;
  }

  /** Opens the port; the same one again after `refuse`. */
  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** slurmrestd is gone: connections are refused until `listen`. */
  async refuse(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const client of this.#clients) client.close();
    await this.refuse();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://simulator');
    const [, service = '', versionText = '', ...rest] = url.pathname.split('/');
    const record: RecordedRequest = {
      at: this.#clock.now(),
      method: request.method ?? '',
      path: [service, ...rest].join('/'),
      query: url.search,
      body: await readBody(request),
      user: '',
      status: 0,
      bytes: 0,
    };
    if (this.requests.length < this.#maxRequests) this.requests.push(record);
    if (this.faults.halfOpen) return; // and nothing ever comes
    const reply = this.#answer(request, url, record, { service, versionText, path: rest.join('/') });
    // What it took to write the answer is part of the latency, not on top of it.
    const spent = this.#clock.now() - record.at;
    const waitMs = this.#latency.base + (reply.takesMs ?? 0) + this.faults.slowMs - spent;
    if (waitMs > 0) await sleep(this.#clock, waitMs, this.#stopping.signal);
    this.#write(response, reply, record, versionText);
  }

  #answer(
    request: IncomingMessage,
    url: URL,
    record: RecordedRequest,
    { service, versionText, path }: { service: string; versionText: string; path: string },
  ): Reply {
    const token =
      request.headers['x-slurm-user-token'] ?? request.headers.authorization?.replace(/^Bearer /, '');
    if (token === undefined || token === '') return { status: 401, text: 'Authentication failure' };
    const known =
      isApiVersion(versionText) && versionsOf[this.#release].includes(versionText) ? versionText : undefined;
    const found = known && findRoute(this.#release, known, record.method, `${service}/${path}`);
    if (known === undefined || !found) return { status: 404, text: 'Unable to find requested URL endpoint.' };
    const user = this.#userOf(String(token));
    Object.assign(record, { user: user ?? '' });
    const isPing = found.route.pattern === 'GET slurm/ping';
    if (service === 'slurmdb' && (this.faults.databaseDown || user === undefined))
      return bad(502, 7000, 'Unable to connect to database', 'Failed to open slurmdbd connection');
    if (service === 'slurm' && !isPing) {
      if (this.faults.controllerDown) return this.#controllerDown(found.route.pattern);
      if (user === undefined) return bad(511, 1007, 'Protocol authentication error', 'Failure to query');
    }
    if (found.route.pattern === 'GET slurm/job/*' && this.hiddenJobs.has(Number(found.parameter)))
      return bad(404, 2017, 'Invalid job id specified');
    this.cluster.settle();
    try {
      return found.route.handle(
        new Request({
          cluster: this.cluster,
          format: this.#format(known),
          version: known,
          query: url.searchParams,
          body: record.body,
          parameter: found.parameter,
          user: user ?? '',
          latency: this.#latency,
          controllerUp: !this.faults.controllerDown,
          authenticated: user !== undefined,
        }),
      );
    } catch (error) {
      if (!(error instanceof SlurmRefusal)) throw error;
      // What slurmctld refuses is 422 in 26.05 and 500 in 24.11.
      const status = error.status ?? (this.#release === '26.05' ? 422 : 500);
      return bad(status, error.number, error.message, `Failure of ${record.method} ${record.path}`);
    }
  }

  #controllerDown(pattern: string): Reply {
    const text = 'Unable to contact slurm controller (connect failure)';
    return pattern === 'GET slurm/job/*'
      ? {
          ...bad(500, -1, 'Unspecified error', 'Unable to query JobId', { jobs: [] }),
          takesMs: this.#latency.controllerDownJob,
        }
      : { ...bad(502, 1800, text, 'Failure to query'), takesMs: this.#latency.controllerDown };
  }

  #write(response: ServerResponse, reply: Reply, record: RecordedRequest, version: string): void {
    const meta =
      isApiVersion(version) && versionsOf[this.#release].includes(version) ? this.#format(version).meta : {};
    const json = reply.text === undefined && reply.status !== 304;
    const whole =
      reply.status === 304 ? Buffer.alloc(0) : json ? replyBody(reply, meta) : Buffer.from(reply.text ?? '');
    const body = this.faults.garbage ? Buffer.from('<html>not what you asked for</html>') : whole;
    const status = this.faults.garbage ? 200 : reply.status;
    record.status = status;
    record.bytes = body.length;
    if (response.destroyed || response.socket === null) return;
    const type = json ? 'application/json' : 'text/plain';
    if (this.faults.truncate) {
      response.writeHead(status, { 'Content-Length': body.length, 'Content-Type': type });
      response.write(body.subarray(0, Math.floor(body.length / 2)));
      response.socket.destroySoon();
      return;
    }
    if (status >= 400) return this.#writeError(response.socket, status, type, body);
    response.writeHead(status, status === 304 ? {} : { 'Content-Length': body.length, 'Content-Type': type });
    response.end(body);
  }

  /** Errors close the connection. 26.05 writes a 404 twice: the second one comes after the end of the first. */
  #writeError(socket: Socket, status: number, type: string, body: Buffer): void {
    const head = `HTTP/1.1 ${status} ERROR\r\nConnection: Close\r\nContent-Length: ${body.length}\r\nContent-Type: ${type}\r\n\r\n`;
    const first = Buffer.concat([Buffer.from(head), body]);
    socket.end(status === 404 && this.#release === '26.05' ? Buffer.concat([first, first]) : first);
  }

  #format(version: ApiVersion): WireFormat {
    const format = this.#formats.get(version) ?? new WireFormat(this.#release, version, this.#json);
    this.#formats.set(version, format);
    return format;
  }

  /** The user of a good token; `undefined` for any other. */
  #userOf(token: string): string | undefined {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const expected = createHmac('sha256', this.jwtKey).update(`${header}.${payload}`).digest('base64url');
    if (signature !== expected) return undefined;
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      exp?: number;
      sun?: string;
    };
    return (claims.exp ?? 0) * 1000 > this.#clock.now() ? claims.sun : undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<Wire> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return text === '' ? {} : (JSON.parse(text) as Wire);
  } catch {
    return {};
  }
}
