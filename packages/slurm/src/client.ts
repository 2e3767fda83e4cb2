/** The client of one Slurm cluster, with a property for each part of its API. */
import type { ApiVersion } from './connection/api-version.ts';
import type { CircuitState } from './connection/circuit.ts';
import { Connection, type ConnectionOptions, type Service } from './connection/connection.ts';
import type { Method } from './connection/transport.ts';
import { NotSupported } from './errors.ts';
import type { OperationsOf } from './generated/index.ts';
import { Accounting } from './operations/accounting.ts';
import { Controller } from './operations/controller.ts';
import { type CallOptions, callOptions } from './operations/endpoint.ts';
import { Jobs } from './operations/jobs.ts';
import { Nodes } from './operations/nodes.ts';
import { Partitions } from './operations/partitions.ts';
import { Reservations } from './operations/reservations.ts';

export type SlurmClientOptions = ConnectionOptions;

type Parameters<O> = O extends { readonly path: infer P; readonly query: infer Q; readonly body: infer B }
  ? { readonly path?: P; readonly query?: Q; readonly body?: B }
  : never;
type Answered<O> = O extends { readonly answer: infer A } ? A : never;

/** A client of one Slurm cluster's REST API. It keeps connections open: call `close`. */
export class SlurmClient implements Disposable {
  readonly controller: Controller;
  readonly nodes: Nodes;
  readonly jobs: Jobs;
  readonly partitions: Partitions;
  readonly reservations: Reservations;
  readonly accounting: Accounting;
  readonly #connection: Connection;

  constructor(options: SlurmClientOptions) {
    this.#connection = new Connection(options);
    this.controller = new Controller(this.#connection);
    this.nodes = new Nodes(this.#connection);
    this.jobs = new Jobs(this.#connection);
    this.partitions = new Partitions(this.#connection);
    this.reservations = new Reservations(this.#connection);
    this.accounting = new Accounting(this.#connection);
  }

  get server(): string {
    return this.#connection.server;
  }

  /** Slurm's release and cluster name from the last response; `undefined` before the first. */
  get about(): { readonly release: string | undefined; readonly cluster: string | undefined } {
    return this.#connection.about;
  }

  /** The API version in use: the newest one that the server supports. */
  apiVersion(options?: CallOptions): Promise<ApiVersion> {
    return this.#connection.version(options);
  }

  /** State of the circuit breaker, and the milliseconds until the next attempt. */
  circuit(service: Service = 'slurm'): { readonly state: CircuitState; readonly waitMs: number } {
    const { state, waitMs } = this.#connection.circuit(service);
    return { state, waitMs };
  }

  /**
   * Calls any endpoint with Slurm's own types of the given API version:
   * `client.raw('v0.0.45', 'GET /slurm/shares', { query: { users: 'alice' } })`.
   */
  async raw<V extends ApiVersion, K extends keyof OperationsOf[V] & string>(
    version: V,
    operation: K,
    parameters: Parameters<OperationsOf[V][K]> = {} as Parameters<OperationsOf[V][K]>,
    options?: CallOptions,
  ): Promise<Answered<OperationsOf[V][K]>> {
    const current = await this.apiVersion(options);
    if (current !== version)
      throw new NotSupported(
        `this client uses ${current} with ${this.server}; set apiVersion to call ${version}`,
      );
    const [method = '', template = ''] = operation.split(' ');
    const [, service = '', ...rest] = template.split('/');
    const values = (parameters.path ?? {}) as Readonly<Record<string, string | number>>;
    const path = rest
      .join('/')
      .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
    const reply = await this.#connection.ask({
      method: method as Method,
      service: service as Service,
      path,
      ...(parameters.query !== undefined && { query: parameters.query as Readonly<Record<string, string>> }),
      ...(parameters.body !== undefined && { body: parameters.body }),
      ...callOptions(options),
    });
    return reply.envelope as Answered<OperationsOf[V][K]>;
  }

  close(): void {
    this.#connection.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
