/**
 * The connection to one slurmrestd: negotiates the newest common API version, sends calls through a circuit breaker
 * and converts responses to replies or errors. Endpoints other than ping are in `operations/`.
 */

import { type Clock, systemClock } from '../clock.ts';
import { NotSupported, type SlurmError, Unauthenticated, Unavailable } from '../errors.ts';
import { type Envelope, errorNumber, interpret, warningsOf } from './answer.ts';
import { type ApiVersion, newestFirst } from './api-version.ts';
import { Circuit, type CircuitOptions, isOutage } from './circuit.ts';
import { type Answer, type Exchange, Transport, type TransportOptions } from './transport.ts';
import { within } from './within.ts';

export type Service = 'slurm' | 'slurmdb' | 'util';

export interface Call extends Omit<Exchange, 'path'> {
  /** Errors that look like an outage but are a valid response to this call: the circuit breaker ignores them. */
  readonly isAnswer?: (error: SlurmError) => boolean;
  readonly service?: Service;
  /** The path after the version, %-encoded: `nodes/`. */
  readonly path: string;
}

export interface Reply {
  readonly envelope: Envelope;
  readonly warnings: readonly string[];
  /** When the request was sent, in milliseconds. */
  readonly beganAt: number;
  /** Size of the response. */
  readonly bytes: number;
}

/** Every possible result of a call. */
export type Outcome =
  | ({ readonly kind: 'good' } & Reply)
  | { readonly kind: 'unchanged'; readonly beganAt: number }
  | { readonly kind: 'empty'; readonly beganAt: number }
  | { readonly kind: 'no-such-path' }
  | { readonly kind: 'bad'; readonly error: SlurmError };

export interface ConnectionOptions extends TransportOptions {
  /** Use this API version instead of the newest common one. */
  readonly apiVersion?: ApiVersion;
  readonly circuit?: Omit<CircuitOptions, 'name' | 'clock'>;
}

export class Connection {
  readonly #transport: Transport;
  readonly #pinned: ApiVersion | undefined;
  readonly #circuits: Readonly<Record<Service, Circuit>>;
  readonly #clock: Clock;
  #version: Promise<ApiVersion> | undefined;
  #release: string | undefined;
  #cluster: string | undefined;

  constructor(options: ConnectionOptions) {
    this.#transport = new Transport(options);
    this.#pinned = options.apiVersion;
    this.#clock = options.clock ?? systemClock;
    const circuit = (name: string) =>
      new Circuit({ ...options.circuit, ...(options.clock && { clock: options.clock }), name });
    this.#circuits = {
      slurm: circuit(`Slurm at ${this.#transport.server}`),
      slurmdb: circuit(`the accounting of Slurm at ${this.#transport.server}`),
      util: circuit(`slurmrestd at ${this.#transport.server}`),
    };
  }

  /** Whom requests are made for, as their token says. */
  user(signal?: AbortSignal): Promise<string | undefined> {
    return this.#transport.user(signal);
  }

  /** Address of the server, for messages. */
  get server(): string {
    return this.#transport.server;
  }

  /** Slurm's release (`26.05.5`) and cluster name from the last response. */
  get about(): { readonly release: string | undefined; readonly cluster: string | undefined } {
    return { release: this.#release, cluster: this.#cluster };
  }

  /** Current time of the connection's clock. */
  now(): number {
    return this.#clock.now();
  }

  circuit(service: Service = 'slurm'): Circuit {
    return this.#circuits[service];
  }

  close(): void {
    this.#transport.close();
  }

  /**
   * The API version in use, negotiated at the first call. Concurrent callers share one negotiation, which continues
   * if one of them aborts.
   */
  version(options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {}): Promise<ApiVersion> {
    if (this.#pinned !== undefined) return Promise.resolve(this.#pinned);
    this.#version ??= this.#negotiate().catch((error: unknown) => {
      this.#version = undefined;
      throw error;
    });
    const what = `asking ${this.server} for its API version`;
    const { signal, timeoutMs = this.#transport.timeoutMs } = options;
    return within(this.#version, { what, timeoutMs, signal, clock: this.#clock });
  }

  /** Sends a call and returns its outcome. Throws only if there was no response. */
  async send(call: Call): Promise<Outcome> {
    const { service = 'slurm' } = call;
    const outcome = await this.#sendOnce(call, service);
    if (outcome.kind === 'no-such-path' && this.#pinned === undefined && service !== 'util') {
      // The server may have been replaced by another release since the negotiation.
      const before = await this.version(call);
      this.#version = undefined;
      if ((await this.version(call)) !== before) return this.#sendOnce(call, service);
    }
    if (outcome.kind === 'bad' && outcome.error.number === errorNumber.databaseUnreachable)
      return { kind: 'bad', error: await this.#tokenOrOutage(outcome.error, call.signal) };
    return outcome;
  }

  /** Sends a call whose response must be a JSON document. */
  async ask(call: Call): Promise<Reply> {
    return this.replyOf(await this.send(call), call);
  }

  /** The reply of a successful outcome; throws the error of any other. */
  async replyOf(outcome: Outcome, call: Call): Promise<Reply> {
    switch (outcome.kind) {
      case 'good':
        return outcome;
      case 'empty':
        return { envelope: {}, warnings: [], beganAt: outcome.beganAt, bytes: 0 };
      case 'unchanged':
        return { envelope: {}, warnings: [], beganAt: outcome.beganAt, bytes: 0 };
      case 'no-such-path':
        throw await this.notSupported(call);
      case 'bad':
        throw outcome.error;
    }
  }

  /** The error for an endpoint that this Slurm does not have. */
  async notSupported(call: Pick<Call, 'method' | 'path' | 'service'>): Promise<NotSupported> {
    const version = await this.version();
    const name = `${call.method} /${call.service ?? 'slurm'}/${version}/${call.path}`;
    return new NotSupported(`${name} is not supported by this Slurm (${this.#release ?? 'release unknown'})`);
  }

  async #sendOnce(call: Call, service: Service): Promise<Outcome> {
    return this.#circuits[service]
      .run(
        async () => {
          const version = await this.version(call);
          const path = `/${service}/${version}/${call.path}`;
          const answer = await this.#transport.exchange({ ...call, path });
          const outcome = this.#outcome(answer, `${call.method} ${path}`);
          // An outage that slurmrestd reports counts for the circuit breaker too.
          if (outcome.kind === 'bad' && isOutage(outcome.error) && call.isAnswer?.(outcome.error) !== true)
            throw new ReportedOutage(outcome);
          return outcome;
        },
        (error) => error instanceof ReportedOutage || isOutage(error),
      )
      .catch((error: unknown) => {
        if (error instanceof ReportedOutage) return error.outcome;
        throw error;
      });
  }

  #outcome(answer: Answer, what: string): Outcome {
    const interpretation = interpret(answer, what);
    const { beganAt, bytes } = answer;
    switch (interpretation.kind) {
      case 'good': {
        const { envelope } = interpretation;
        this.#release = envelope.meta?.slurm?.release ?? this.#release;
        this.#cluster = envelope.meta?.slurm?.cluster ?? this.#cluster;
        return { kind: 'good', envelope, warnings: warningsOf(envelope), beganAt, bytes };
      }
      case 'bad':
        return { kind: 'bad', error: interpretation.error };
      case 'no-such-path':
        return interpretation;
      case 'unchanged':
      case 'empty':
        return { kind: interpretation.kind, beganAt };
    }
  }

  /** slurmrestd responds with 404 in plain text to a version that it does not have, and ping never waits for slurmctld. */
  async #negotiate(): Promise<ApiVersion> {
    for (const version of newestFirst) {
      const path = `/slurm/${version}/ping/`;
      const answer = await this.#transport.exchange({ method: 'GET', path });
      const outcome = this.#outcome(answer, `GET ${path}`);
      if (outcome.kind === 'good') return version;
      if (outcome.kind === 'bad') throw outcome.error;
    }
    throw new NotSupported(
      `${this.server} serves none of the API versions ${newestFirst.toReversed().join(', ')}; is it slurmrestd of Slurm 24.05 or later?`,
    );
  }

  /** slurmdb reports an expired token as an outage (7000): a cheap request to slurmctld distinguishes the two. */
  async #tokenOrOutage(error: SlurmError, signal: AbortSignal | undefined): Promise<SlurmError> {
    try {
      const question = {
        method: 'GET',
        path: 'licenses/',
        timeoutMs: 5000,
        ...(signal && { signal }),
      } as const;
      const probe = await this.#sendOnce(question, 'slurm');
      if (probe.kind === 'bad' && probe.error instanceof Unauthenticated) return probe.error;
    } catch {
      // slurmctld is unreachable too: an outage.
    }
    return error;
  }
}

class ReportedOutage extends Unavailable {
  readonly outcome: Outcome & { kind: 'bad' };
  constructor(outcome: Outcome & { kind: 'bad' }) {
    const { message, number } = outcome.error;
    super(message, number === undefined ? {} : { number });
    this.outcome = outcome;
  }
}
