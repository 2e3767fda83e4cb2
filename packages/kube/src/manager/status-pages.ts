/** Status pages of a program: health for every client, metrics for authorized clients, the rest for loopback clients. */
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { AccessReviewer } from './access-reviewer.ts';
import type { Health } from './health.ts';
import type { Metrics } from './metrics.ts';
import { passingCertificate } from './passing-certificate.ts';
import {
  type StatusAddress,
  type StatusAnswer,
  type StatusRequest,
  type StatusRoute,
  serveStatus,
} from './status-server.ts';

export interface StatusPagesOptions {
  /** Serve /livez, /healthz and /readyz here. @default not served */
  readonly health?: StatusAddress;
  /**
   * Serve /metrics here. `secure`: over TLS with a certificate of our own making, and only to those whom the cluster's
   * permissions let `get` it. @default not served
   */
  readonly metrics?: StatusAddress & { readonly secure?: boolean; readonly http2?: boolean };
}

export type LocalRoute = (request: StatusRequest) => Promise<StatusAnswer> | StatusAnswer;

interface Program {
  readonly name: string;
  readonly health: Health;
  readonly metrics: Metrics;
  /** Asks what a caller may see. */
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
}

export class StatusPages {
  /** The ports that are served, once started. */
  readonly ports: { health?: number; metrics?: number } = {};
  readonly #options: StatusPagesOptions;
  readonly #program: Program;
  readonly #localRoutes = new Map<string, LocalRoute>();

  constructor(options: StatusPagesOptions, program: Program) {
    this.#options = options;
    this.#program = program;
  }

  /** Serves something more beside the metrics, to those on the same machine (in the same pod) only. */
  addLocalRoute(path: string, answer: LocalRoute): void {
    this.#localRoutes.set(path, answer);
  }

  /** Resolves when all ports listen, with their ends: those come when the signal is aborted. */
  async serve(signal: AbortSignal): Promise<Promise<void>[]> {
    const closing: Promise<void>[] = [];
    const { health, metrics } = this.#options;
    const healthRoute: StatusRoute = ({ path }) => this.#program.health.answer(path);
    if (metrics !== undefined) this.#program.metrics.collectProcess();
    // One port may serve both, unless one is for everybody and the other is not.
    const both =
      metrics !== undefined && metrics.secure !== true && metrics.port !== 0 && metrics.port === health?.port;
    if (health !== undefined) {
      const routes = both ? [healthRoute, ...this.#metricsRoutes()] : [healthRoute];
      const { port, closed } = await serveStatus(health, { routes }, signal);
      this.ports.health = port;
      if (both) this.ports.metrics = port;
      closing.push(closed);
    }
    if (metrics !== undefined && !both) {
      const { name, clock } = this.#program;
      const certificate = metrics.secure === true ? await passingCertificate(name, clock) : undefined;
      const serving = {
        routes: this.#metricsRoutes(),
        ...(certificate === undefined ? {} : { certificate, http2: metrics.http2 === true }),
      };
      const { port, closed } = await serveStatus(metrics, serving, signal);
      this.ports.metrics = port;
      closing.push(closed);
    }
    return closing;
  }

  #metricsRoutes(): StatusRoute[] {
    const { client, clock, log, metrics } = this.#program;
    const reviewer = new AccessReviewer(client, { clock, log });
    const local: StatusRoute = (request) => {
      const answer = this.#localRoutes.get(request.path);
      if (answer === undefined) return undefined;
      if (!request.local) return { status: 403, text: 'served to this machine only\n' };
      return answer(request);
    };
    const expose: StatusRoute = async (request) => {
      if (request.path !== '/metrics') return undefined;
      const refusal = this.#options.metrics?.secure === true ? await reviewer.refusal(request) : undefined;
      return refusal ?? { status: 200, text: await metrics.expose() };
    };
    return [local, expose];
  }
}
