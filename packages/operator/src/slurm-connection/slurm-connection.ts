/** One Slurm: a client, its views, and a gateway for changes. Shared by all controllers. */
import {
  type Clock,
  type JobsView,
  SlurmClient,
  type SlurmDiag,
  SlurmWatch,
  type TokenProvider,
} from '@slurm-operator/slurm';
import { PollLoad } from './pool.ts';
import { WatchedGateway } from './watched-gateway.ts';

/** How patiently Slurm is asked; what is absent is the client's own. */
export interface SlurmPatience {
  /** Milliseconds that one request may take. @default 20_000 */
  readonly requestTimeoutMs?: number;
  /** Pauses between tries to reach a Slurm that does not answer, in milliseconds. @default 1 s to 15 min */
  readonly backoff?: { readonly initial: number; readonly limit: number };
  /** Milliseconds between two lists while nothing waits for Slurm. @default 5_000 */
  readonly pollPeriodMs?: number;
}

export interface ConnectionOptions {
  readonly patience?: SlurmPatience | undefined;
  readonly server: string;
  readonly token: TokenProvider;
  readonly ca?: string | undefined;
  readonly clock: Clock;
  /** Called when a list brought news, or what is known became unknown, or the other way round. */
  readonly onNews: () => void;
  /** Shared by all connections of the program. */
  readonly load?: PollLoad;
  /** See {@link WatchedGatewayOptions.assertMayWrite}. */
  readonly assertMayWrite?: (() => void) | undefined;
}

export class SlurmConnection {
  readonly client: SlurmClient;
  readonly gateway: WatchedGateway;
  /** When slurmctld was started; asked for with every ping. */
  readonly controllerStart = new ControllerStart();
  /** Statistics of slurmctld, and when they were asked for: with every ping. */
  lastDiag: { readonly at: number; readonly diag: SlurmDiag } | undefined;
  readonly #watch: SlurmWatch;
  readonly #load: PollLoad;

  constructor({
    server,
    token,
    ca,
    clock,
    onNews,
    assertMayWrite,
    patience = {},
    load = new PollLoad(),
  }: ConnectionOptions) {
    this.#load = load;
    const { requestTimeoutMs, pollPeriodMs } = patience;
    this.client = new SlurmClient({
      server,
      token,
      clock,
      ...(ca === undefined ? {} : { ca }),
      ...(requestTimeoutMs === undefined ? {} : { timeoutMs: requestTimeoutMs }),
    });
    this.#watch = new SlurmWatch({
      client: this.client,
      clock,
      pace: { fastMs: () => load.fastMs, ...(pollPeriodMs === undefined ? {} : restOf(pollPeriodMs)) },
    });
    this.gateway = new WatchedGateway({
      client: this.client,
      watch: this.#watch,
      controllerStartedAt: () => this.controllerStart.at,
      now: () => clock.now(),
      pollsFast: (isFast) => load.set(this, isFast),
      ...(assertMayWrite === undefined ? {} : { assertMayWrite }),
    });
    this.#watch.nodes.subscribe(({ changes }) => {
      if (changes.some(({ type }) => type === 'removed')) this.controllerStart.nodesRemoved(clock.now());
    });
    this.#watch.nodes.subscribe(onNews);
    this.#watch.jobs.subscribe(onNews);
    this.#watch.start();
  }

  /** What slurmctld's clock says: see `NodeWatch.controllerTime`. */
  controllerTime(time: number): void {
    this.#watch.nodes.controllerTime(time);
  }

  /** Jobs as they were listed last. */
  get jobs(): JobsView {
    return this.#watch.jobs.view;
  }

  /** Called with every list that brought changes of jobs. */
  onJobs(listener: () => void): void {
    this.#watch.jobs.subscribe(listener);
  }

  /** How many jobs run and wait; undefined while that is not known. */
  jobCounts(): { readonly running: number; readonly pending: number } | undefined {
    const { view } = this.#watch.jobs;
    if (view.kind === 'unknown') return undefined;
    let running = 0;
    let pending = 0;
    for (const state of view.states.values()) {
      if (state.includes('RUNNING')) running += 1;
      if (state.includes('PENDING')) pending += 1;
    }
    return { running, pending };
  }

  async close(): Promise<void> {
    this.#load.set(this, false);
    await this.#watch.stop();
    this.client.close();
  }
}

/** The interval is longer for a large cluster, and shorter while polling fast. */
function restOf(pollPeriodMs: number) {
  return {
    ...(pollPeriodMs < 200 ? { fastMs: pollPeriodMs } : {}),
    idleMinMs: pollPeriodMs,
    idleMaxMs: Math.max(60_000, pollPeriodMs),
  };
}

/**
 * When slurmctld started, as far as that is known. It is asked with every ping, so for some seconds the answer may be that of a slurmctld
 * that ended since. Nodes that vanished from the list are a sign of that: until it was asked again, it counts as started then.
 */
export class ControllerStart {
  #told: { readonly startedAt: number; readonly askedAt: number } | undefined;
  #removedAt = Number.NEGATIVE_INFINITY;

  get at(): number | undefined {
    if (this.#told === undefined) return undefined;
    const { startedAt, askedAt } = this.#told;
    return askedAt > this.#removedAt ? startedAt : Math.max(startedAt, this.#removedAt);
  }

  /** What slurmctld said to a question of that moment; undefined: it does not say yet. */
  told(startedAt: number | undefined, askedAt: number): void {
    this.#told = startedAt === undefined ? undefined : { startedAt, askedAt };
  }

  /** A list lacks nodes that the one before had. */
  nodesRemoved(at: number): void {
    this.#removedAt = at;
  }
}
