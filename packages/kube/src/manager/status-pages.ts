/** Status pages of a program: health for every client, metrics for authorized clients, the rest for loopback clients. */

import { hostname } from 'node:os';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import type { ServingCertificate } from '../certificates/certificate-source.ts';
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { AccessReviewer } from './access-reviewer.ts';
import type { Health } from './health.ts';
import type { Metrics } from './metrics.ts';
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
   * Serve /metrics here. `secure`: over TLS with a self-signed certificate, and only to clients that RBAC allows to `get` it.
   * @default not served
   */
  readonly metrics?: StatusAddress & { readonly secure?: boolean; readonly http2?: boolean };
}

export type LocalRoute = (request: StatusRequest) => Promise<StatusAnswer> | StatusAnswer;

interface Program {
  readonly name: string;
  readonly health: Health;
  readonly metrics: Metrics;
  /** For access reviews. */
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

  /** Adds a page to the metrics port that only clients in the same pod can read. */
  addLocalRoute(path: string, answer: LocalRoute): void {
    this.#localRoutes.set(path, answer);
  }

  /** Resolves when all ports listen, with promises that resolve when they are closed after the abort of the signal. */
  async serve(signal: AbortSignal): Promise<Promise<void>[]> {
    const closing: Promise<void>[] = [];
    const { health, metrics } = this.#options;
    const healthRoute: StatusRoute = ({ path }) => this.#program.health.answer(path);
    if (metrics !== undefined) this.#program.metrics.collectProcess();
    // One port may serve both, unless only one of them requires authorization.
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
      const certificate = metrics.secure === true ? await ephemeralCertificate(name, clock) : undefined;
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
      if (!request.local) return { status: 403, text: 'only served to clients on localhost\n' };
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

const YEAR = 365 * 24 * 3600000;

/** A self-signed certificate in memory, for encryption without authentication. It is lost when the process ends. */
export async function ephemeralCertificate(name: string, clock: Clock): Promise<ServingCertificate> {
  const times = { now: clock.now(), lifetime: 10 * YEAR };
  const authority = await createAuthority({ name, ...times });
  const { certificatePem, keyPem } = await issueServing(authority, {
    hosts: [hostname(), 'localhost', '127.0.0.1'],
    ...times,
  });
  return { cert: certificatePem, key: keyPem };
}
