/** All connections of this program, by the key of their Cluster. */
import { ChannelSource, type Clock, type ObjectKey, refOf } from '@slurm-operator/kube';
import type { Clock as SlurmClock } from '@slurm-operator/slurm';
import { type ConnectionOptions, SlurmConnection } from './slurm-connection.ts';
import type { GatewayFinder } from './slurm-gateway.ts';

interface Entry {
  readonly connection: SlurmConnection;
  /** Names server, credential and certificates; never holds them. */
  readonly fingerprint: string;
  readonly since: number;
  readonly attached: readonly Attached[];
}

/** Lives as long as a connection. */
export interface Attached {
  close(): Promise<void>;
}

/** Description of a connection, without secrets. */
export interface ConnectionFacts {
  readonly cluster: ObjectKey;
  readonly server: string;
  readonly release: string | undefined;
  readonly circuit: string;
  readonly openedAt: string;
  /** When slurmctld started, by its own word. */
  readonly controllerStartedAt: string | undefined;
  readonly nodes: number | undefined;
  readonly jobs: { readonly running: number; readonly pending: number } | undefined;
  /** Why nothing is known of the nodes. */
  readonly unknown: string | undefined;
}

/**
 * What Slurm had is remembered this long after its connection was replaced, as with a new jwt.key: Slurm may refuse the new one until
 * slurmctld is restarted, so it must not be waited for longer.
 */
const rememberedMs = 10 * 60_000;

export class ConnectionPool {
  /** Triggered with a Controller (or Cluster) whose Slurm changed. */
  readonly changes = new ChannelSource();
  /** The same, for the controller of Clusters. */
  readonly news = new ChannelSource();
  readonly #entries = new Map<ObjectKey, Entry>();
  readonly #replaced = new Map<
    ObjectKey,
    { readonly at: number; readonly partitions: ReadonlySet<string> }
  >();
  readonly #clock: Clock;
  readonly #load = new PollLoad();
  readonly #assertMayWrite: (() => void) | undefined;
  readonly #attachments: ((key: ObjectKey, connection: SlurmConnection) => Attached)[] = [];

  /** `assertMayWrite` throws when this replica does not lead: Slurm is changed by the leader only, like everything else. */
  constructor(clock: Clock, assertMayWrite?: () => void) {
    this.#clock = clock;
    this.#assertMayWrite = assertMayWrite;
  }

  /** The same time, as the Slurm client counts it. */
  get slurmClock(): SlurmClock {
    return { now: () => this.#clock.now(), schedule: (ms, action) => this.#clock.after(ms, action) };
  }

  /** Called with each connection that is opened from now on; what it returns is closed before the connection is. */
  attach(open: (key: ObjectKey, connection: SlurmConnection) => Attached): void {
    this.#attachments.push(open);
  }

  get(key: ObjectKey): SlurmConnection | undefined {
    return this.#entries.get(key)?.connection;
  }

  fingerprintOf(key: ObjectKey): string | undefined {
    return this.#entries.get(key)?.fingerprint;
  }

  /** The Cluster of a Controller has its name. */
  readonly gateways: GatewayFinder = (namespace, controller) =>
    this.get(`${namespace}/${controller}`)?.gateway;

  /** The connection with this fingerprint; one with another is closed and replaced. */
  async use(
    key: ObjectKey,
    fingerprint: string,
    options: () => Omit<ConnectionOptions, 'onNews' | 'clock' | 'assertMayWrite' | 'load'>,
  ): Promise<SlurmConnection> {
    const known = this.#entries.get(key);
    if (known?.fingerprint === fingerprint) return known.connection;
    if (known !== undefined) await this.remove(key);
    const ref = refOf(key);
    const connection = new SlurmConnection({
      ...options(),
      clock: this.slurmClock,
      load: this.#load,
      assertMayWrite: this.#assertMayWrite,
      onNews: () => {
        this.changes.trigger(ref);
        this.news.trigger(ref);
      },
    });
    const attached = this.#attachments.map((open) => open(key, connection));
    this.#entries.set(key, { connection, fingerprint, since: this.#clock.now(), attached });
    return connection;
  }

  /** The partitions that Slurm had when it answered last, over this connection or the one before. */
  lastPartitions(key: ObjectKey): ReadonlySet<string> | undefined {
    const connection = this.get(key);
    const known = connection && partitionsOf(connection);
    if (known !== undefined) return known;
    const before = this.#replaced.get(key);
    return before !== undefined && this.#clock.now() - before.at < rememberedMs
      ? before.partitions
      : undefined;
  }

  async remove(key: ObjectKey): Promise<void> {
    const known = this.#entries.get(key);
    if (known === undefined) return;
    this.#entries.delete(key);
    const partitions = partitionsOf(known.connection);
    if (partitions !== undefined) this.#replaced.set(key, { at: this.#clock.now(), partitions });
    await Promise.all(known.attached.map((each) => each.close()));
    await known.connection.close();
    this.changes.trigger(refOf(key));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((key) => this.remove(key)));
  }

  /** Every connection, without its credential. */
  describe(): ConnectionFacts[] {
    return [...this.#entries].map(([cluster, { connection, since }]) => {
      const { client, gateway } = connection;
      const view = gateway.view();
      return {
        cluster,
        server: client.server,
        release: client.about.release,
        circuit: client.circuit().state,
        openedAt: new Date(since).toISOString(),
        controllerStartedAt:
          connection.controllerStart.at === undefined
            ? undefined
            : new Date(connection.controllerStart.at).toISOString(),
        nodes: view.kind === 'known' ? view.nodes.length : undefined,
        jobs: connection.jobCounts(),
        unknown: view.kind === 'unknown' ? view.why : undefined,
      };
    });
  }
}

/** What an administrator may look at in a running operator: who is connected to what. No secret is in it. */
export interface DebugVars {
  readonly slurmClients: readonly ConnectionFacts[];
}

export function debugVars(pool: Pick<ConnectionPool, 'describe'>): DebugVars {
  return { slurmClients: pool.describe() };
}

function partitionsOf({ gateway }: SlurmConnection): ReadonlySet<string> | undefined {
  const nodes = gateway.lastNodes();
  return nodes && new Set(nodes.flatMap(({ partitions }) => partitions));
}

/**
 * How many connections of this program poll fast now, and how fast each may: a few poll five times a second; fifty at that rate would take
 * all of its time, and each would be slower than with one poll a second.
 */
export class PollLoad {
  static readonly #fastestMs = 200;
  static readonly #slowestMs = 1_000;
  static readonly #msPerConnection = 25;
  readonly #fast = new Set<object>();

  set(connection: object, isFast: boolean): void {
    if (isFast) this.#fast.add(connection);
    else this.#fast.delete(connection);
  }

  /** Milliseconds between two lists of one connection. */
  get fastMs(): number {
    const shared = this.#fast.size * PollLoad.#msPerConnection;
    return Math.min(PollLoad.#slowestMs, Math.max(PollLoad.#fastestMs, shared));
  }
}
