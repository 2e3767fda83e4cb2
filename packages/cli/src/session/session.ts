/** One run of a command: the connection to Kubernetes, the cluster it is about, and Slurm when it is needed. */
import { printable } from '@slurm-operator/advice';
import type { Cluster } from '@slurm-operator/api';
import {
  type Client,
  type ClusterConfig,
  createClient,
  ForbiddenError,
  type Live,
  NotFoundError,
} from '@slurm-operator/kube';
import type { SlurmClient } from '@slurm-operator/slurm';
import { CliError, exitCode } from '../errors.ts';
import type { Io } from '../io.ts';
import type { CommandLine } from '../line.ts';
import { asJson, asYaml } from '../output/print.ts';
import { type Paint, painter, wantsColours } from '../output/style.ts';
import { type Column, table } from '../output/table.ts';
import { connection } from './connect.ts';
import { type OpenSlurm, openSlurm } from './open-slurm.ts';
import { clusters } from './resources.ts';

export interface SessionOptions {
  readonly io: Io;
  readonly line: CommandLine;
  readonly signal: AbortSignal;
  /** Used by tests instead of a kubeconfig. */
  readonly config?: ClusterConfig;
  /** What an exchanged token is for: `nodes` for commands of administrators. @default 'jobs' */
  readonly scope?: 'jobs' | 'nodes';
}

export interface Done {
  /** `job/4711`. */
  readonly object: string;
  readonly result: string;
}

const longestRequest = 3_600_000;

export class Session implements AsyncDisposable {
  readonly io: Io;
  readonly line: CommandLine;
  readonly signal: AbortSignal;
  readonly paint: Paint;
  readonly format: string;
  readonly scope: 'jobs' | 'nodes';
  readonly #given: ClusterConfig | undefined;
  #client: Promise<Client> | undefined;
  #cluster: Promise<Live<Cluster>> | undefined;
  #slurm: Promise<OpenSlurm> | undefined;
  #clockOffset: Promise<number> | undefined;

  constructor({ io, line, signal, config, scope = 'jobs' }: SessionOptions) {
    this.scope = scope;
    this.io = io;
    this.line = line;
    this.signal = signal;
    this.#given = config;
    this.format = line.text('output') ?? 'table';
    this.paint = painter(wantsColours(io.env, io.isTty, line.has('no-color')));
  }

  /** Milliseconds for one request. */
  get timeout(): number {
    const text = this.line.text('request-timeout') ?? '20s';
    const found = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
    if (found === null)
      throw new CliError(`--request-timeout must be a time such as 20s or 1m, not "${text}".`);
    const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[found[2] ?? 's'] ?? 1000;
    // kubectl's 0 is "no deadline"; here every request has one.
    return Math.min(Number(found[1]) * unit || longestRequest, longestRequest);
  }

  client(): Promise<Client> {
    return (this.#client ??= this.#connect());
  }

  /** The time by the clock of the API server: a clock of this machine that is wrong must not make leases and tokens look old. */
  serverNow(): Promise<number> {
    return (this.#clockOffset ??= this.#askClock()).then((offset) => this.io.now() + offset);
  }

  async namespace(): Promise<string> {
    return this.line.text('namespace') ?? (await this.client()).config.namespace;
  }

  /** The Cluster that the command is about: named, or the only one of the namespace. */
  cluster(): Promise<Live<Cluster>> {
    return (this.#cluster ??= this.#findCluster());
  }

  async slurm(): Promise<SlurmClient> {
    return (await this.openSlurm()).client;
  }

  openSlurm(): Promise<OpenSlurm> {
    return (this.#slurm ??= openSlurm(this));
  }

  /** A line on stderr, on a terminal only. */
  progress(text: string): void {
    if (this.io.isTty) this.io.err(`${this.paint('quiet', printable(text))}\n`);
  }

  note(text: string): void {
    this.io.err(`${this.paint('quiet', printable(text))}\n`);
  }

  /** Prints rows as the user asked for. `name`: `kind/name` of a row. */
  print<Row extends object>(
    kind: string,
    rows: readonly Row[],
    columns: readonly Column<Row>[],
    name: (row: Row) => string,
    empty: string,
  ): void {
    const { out } = this.io;
    if (this.format === 'json') return out(asJson(`${kind}List`, { items: rows }));
    if (this.format === 'yaml') return out(asYaml(`${kind}List`, { items: rows }));
    if (this.format === 'name') return out(rows.map((row) => `${name(row)}\n`).join(''));
    if (rows.length === 0) return this.note(empty);
    out(
      table(rows, columns, {
        paint: this.paint,
        wide: this.format === 'wide',
        headers: !this.line.has('no-headers'),
        columns: this.io.isTty ? this.io.columns : undefined,
      }),
    );
  }

  /** One object as JSON or YAML, or the names of what it is about; false for a table or text. */
  printObject(kind: string, content: object, names: readonly string[] = []): boolean {
    if (this.format === 'json') this.io.out(asJson(kind, content));
    else if (this.format === 'yaml') this.io.out(asYaml(kind, content));
    else if (this.format === 'name') this.io.out(names.map((name) => `${name}\n`).join(''));
    else return false;
    return true;
  }

  /** What a command did: `node/gpu-3 drained`. */
  printDone(done: readonly Done[]): void {
    const names = done.map(({ object }) => object);
    if (!this.printObject('ChangeList', { items: done }, names))
      this.io.out(done.map(({ object, result }) => `${object} ${result}\n`).join(''));
  }

  /** Asks once on a terminal before a change. */
  async confirm(what: string): Promise<void> {
    if (this.line.has('yes') || !this.io.canAsk) return;
    const answer = await this.io.ask(`${what}\nProceed? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new CliError('Nothing was changed.', { exitCode: exitCode.refused });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#slurm?.then(
      (open) => open[Symbol.asyncDispose](),
      () => undefined,
    );
    await this.#client?.then(
      (client) => client.close(),
      () => undefined,
    );
  }

  async #askClock(): Promise<number> {
    const { transport } = await this.client();
    const { signal } = this;
    const sent = this.io.now();
    const found = await transport
      .request({ method: 'GET', path: '/version', doing: 'read the time of the API server', signal })
      .catch(() => undefined);
    const offset = Date.parse(found?.headers.date ?? '') - sent;
    // The header has whole seconds, and the answer took a while.
    return Math.abs(offset) > 5_000 ? offset : 0;
  }

  async #connect(): Promise<Client> {
    const config = await connection({ line: this.line, env: this.io.env, given: this.#given });
    return createClient(config, { userAgent: 'kubectl-slurm', timeout: this.timeout });
  }

  async #findCluster(): Promise<Live<Cluster>> {
    const client = await this.client();
    const namespace = await this.namespace();
    const wanted = this.line.text('cluster');
    if (wanted !== undefined) {
      const found = await client.find(clusters, { namespace, name: wanted }, { signal: this.signal });
      if (found !== undefined) return found;
      throw new CliError(`There is no Cluster ${wanted} in namespace ${namespace}.`);
    }
    const { items } = await client
      .list(clusters, { namespace, signal: this.signal })
      .catch((error: unknown) => {
        if (error instanceof NotFoundError)
          throw new CliError(
            `This Kubernetes does not serve ${clusters.apiVersion}: the CRDs of slurm-operator are not installed, or of another version than this plugin. kubectl slurm check says which.`,
          );
        throw error;
      });
    const [only, ...others] = items;
    if (only === undefined) throw new CliError(await this.#noCluster(client, namespace));
    if (others.length > 0)
      throw new CliError(
        `Namespace ${namespace} has ${items.length} clusters (${items.map(({ metadata }) => metadata.name).join(', ')}): choose one with --cluster.`,
      );
    return only;
  }

  /** Says where clusters are, if the user may see it. */
  async #noCluster(client: Client, namespace: string): Promise<string> {
    const base = `There is no Slurm cluster in namespace ${namespace}`;
    try {
      const { items } = await client.list(clusters, { signal: this.signal });
      const places = [...new Set(items.map(({ metadata }) => metadata.namespace))];
      return places.length === 0
        ? `${base}, nor in any other.`
        : `${base}; try -n ${places.slice(0, 5).join(' or -n ')}.`;
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      return `${base}: choose another with -n.`;
    }
  }
}
