import { randomBytes } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Box,
  createSandbox,
  type Network,
  type Rootfs,
  type Sandbox,
  waitUntil,
} from '@slurm-operator/sandbox';
import { SlurmClient, type SlurmClientOptions } from '../src/client.ts';
import { isNotResponding, isSchedulable } from '../src/meaning/node-state.ts';
import { signJwt } from '../src/tokens/jwt.ts';
import { staticToken } from '../src/tokens/token-provider.ts';
import {
  accountingBox,
  addresses,
  controllerBox,
  databaseBox,
  type MiniSlurmPlan,
  nodeAddress,
  nodeBox,
  restBox,
  slurmConf,
} from './mini-slurm-files.ts';
import { type SlurmRelease, slurmRootfs } from './slurm-rootfs.ts';
import { clockDirectory, type SteppedClock, steppedClock } from './stepped-clock.ts';

export interface MiniSlurmOptions {
  readonly version: SlurmRelease;
  /** slurmd at the start, named n0, n1, … Default 2. */
  readonly nodes?: number;
  /** slurmdbd and MariaDB as well. Default: no. */
  readonly accounting?: boolean;
  /** Of the sandbox; unique on this machine. Default: made from the process id. */
  readonly name?: string;
  /** Lines added to slurm.conf. */
  readonly configuration?: readonly string[];
  /** Scripts of slurmctld, such as a PrologSlurmctld: path → text. */
  readonly scripts?: Readonly<Record<string, string>>;
  /** slurmctld gets a clock that `setClock` moves. Default: the one of this machine. */
  readonly steppedClock?: boolean;
}

/**
 * A real Slurm on this machine: every daemon in namespaces of its own on one bridge. Needs root. The first start builds a
 * root file system (a minute); later ones take seconds.
 */
export async function startMiniSlurm(options: MiniSlurmOptions): Promise<MiniSlurm> {
  const rootfs = await slurmRootfs(options.version);
  const name = options.name ?? `slurm-${process.pid}-${options.version.replace('.', '-')}`;
  const sandbox = await createSandbox({ name });
  const plan: MiniSlurmPlan = {
    release: options.version,
    accounting: options.accounting ?? false,
    configuration: options.configuration ?? [],
    scripts: options.scripts,
    slurmKey: randomBytes(768).toString('base64'),
    jwtKey: randomBytes(24).toString('base64'),
  };
  try {
    const network = await sandbox.addNetwork('lan');
    const mini = new MiniSlurm(plan, rootfs, sandbox, network);
    if (options.steppedClock === true) mini.clock = await steppedClock(join(sandbox.directory, 'clock'));
    await mini.start(options.nodes ?? 2);
    return mini;
  } catch (error) {
    await sandbox.stop(0);
    throw error;
  }
}

export class MiniSlurm implements AsyncDisposable {
  readonly version: SlurmRelease;
  readonly sandbox: Sandbox;
  readonly nodes = new Map<string, Box>();
  /** The one of slurmctld, where it was asked for. */
  clock: SteppedClock | undefined;
  readonly #plan: MiniSlurmPlan;
  readonly #rootfs: Rootfs;
  readonly #network: Network;
  readonly #clients: SlurmClient[] = [];
  #boxes: { controller: Box; rest: Box; accounting?: Box; database?: Box } | undefined;
  #server = '';
  #nextNode = 0;
  /** Addresses of nodes that were removed. */
  readonly #free: string[] = [];

  constructor(plan: MiniSlurmPlan, rootfs: Rootfs, sandbox: Sandbox, network: Network) {
    this.version = plan.release;
    this.sandbox = sandbox;
    this.#plan = plan;
    this.#rootfs = rootfs;
    this.#network = network;
  }

  /** The box of slurmctld. Kill, restart, pause or cut it off like any box. */
  get controller(): Box {
    return this.#running().controller;
  }

  get rest(): Box {
    return this.#running().rest;
  }

  /** The box of slurmdbd. */
  get accounting(): Box {
    const { accounting } = this.#running();
    if (accounting === undefined) throw new Error('this mini Slurm was started without accounting');
    return accounting;
  }

  /** The box of MariaDB. */
  get database(): Box {
    const { database } = this.#running();
    if (database === undefined) throw new Error('this mini Slurm was started without accounting');
    return database;
  }

  /** Address of slurmrestd on this machine. */
  get server(): string {
    return this.#server;
  }

  /** The bytes of jwt_hs256.key. */
  get jwtKey(): Buffer {
    return Buffer.from(this.#plan.jwtKey);
  }

  async start(nodes: number): Promise<void> {
    const began = this.#startNodesLater(nodes);
    const database = this.#plan.accounting ? await this.#startAccounting() : undefined;
    const controller = await this.#startBox(
      { ...controllerBox(this.#plan), ...(this.clock && withClock(this.clock)) },
      addresses.controller,
    );
    const rest = await this.#startBox(restBox(this.#plan), addresses.rest);
    this.#boxes = { controller, rest, ...database };
    await controller.waitForPort(6817, { intervalMs: 20 });
    await Promise.all([began(), rest.waitForPort(6820, { intervalMs: 20 })]);
    const { port } = await this.sandbox.forward({ address: addresses.rest, port: 6820 });
    this.#server = `http://127.0.0.1:${port}`;
    await this.waitForNodes([...this.nodes.keys()]);
  }

  /** A token of a user, valid for an hour unless said otherwise. */
  token(user = 'slurm', lifetimeSeconds = 3600): string {
    return signJwt({ key: this.jwtKey, user, lifetimeSeconds, now: Date.now() });
  }

  /** A client as the given user (default: slurm); closed when this mini Slurm stops. */
  client(options: Partial<SlurmClientOptions> & { readonly user?: string } = {}): SlurmClient {
    const { user, ...rest } = options;
    const client = new SlurmClient({ server: this.#server, token: staticToken(this.token(user)), ...rest });
    this.#clients.push(client);
    return client;
  }

  /** Starts another slurmd, which registers itself. `flags` are added to its command line. */
  async addNode(
    name = `n${this.#nextNode}`,
    configuration = 'CPUs=4 RealMemory=4000 Feature=mini',
    flags: readonly string[] = [],
  ): Promise<Box> {
    const box = await this.#addNode(name, configuration, flags);
    await box.start();
    return box;
  }

  /** Ends a slurmd (SIGTERM) and takes its machine away. Slurm is not told: its record stays. */
  async removeNode(name: string): Promise<void> {
    const box = this.nodes.get(name);
    if (box === undefined) return;
    this.nodes.delete(name);
    const { address } = box;
    await this.sandbox.removeBox(box);
    this.#free.push(address);
  }

  /** A command of Slurm on slurmctld's box, as SlurmUser. */
  async run(...command: string[]): Promise<string> {
    return (await this.controller.exec(command, { user: 'slurm', timeoutMs: 120_000 })).stdout;
  }

  /** Puts these lines in the place of those that it was started with, and has slurmctld read them. */
  async configure(configuration: readonly string[]): Promise<void> {
    const text = slurmConf({ ...this.#plan, configuration });
    await this.controller.exec(['sh', '-c', 'printf %s "$1" >/etc/slurm/slurm.conf', 'sh', text], {
      user: 'slurm',
    });
    await this.run('scontrol', 'reconfigure');
  }

  /** Waits until Slurm can place work on all of these nodes. */
  async waitForNodes(names: readonly string[], timeoutMs = 120_000): Promise<void> {
    const client = this.client();
    await waitUntil(
      `nodes ${names.join(',')} to be ready`,
      async () => {
        // slurmctld may not answer yet; the deadline is the one of the wait.
        const listed = await client.nodes.list({ timeoutMs: 5000 }).catch(() => undefined);
        const ready = new Set(
          listed?.items
            .filter((node) => isSchedulable(node.state) && !isNotResponding(node.state))
            .map((node) => node.name),
        );
        return names.every((name) => ready.has(name));
      },
      { timeoutMs, intervalMs: 50 },
    );
    client.close();
  }

  /**
   * Makes slurmctld write everything it knows to its state directory; a reconfigure does. Killed before it ever did, it
   * forgets its nodes, and with accounting 26.05 does not start again ("No Assoc usage file"). All nodes must be in service.
   */
  async saveState(timeoutMs = 120_000): Promise<void> {
    const moment = Date.now();
    await this.run('scontrol', 'reconfigure');
    const saved = ['node_state', 'job_state', ...(this.#plan.accounting ? ['assoc_usage'] : [])];
    await waitUntil(
      'slurmctld to save its state',
      async () => {
        const stat = ['stat', '--format=%.9Y', ...saved.map((file) => `/cluster/state/${file}`)];
        const { stdout } = await this.controller.exec(stat, { allowFailure: true });
        const times = stdout.split('\n').filter(Boolean);
        return times.length === saved.length && times.every((seconds) => Number(seconds) * 1000 >= moment);
      },
      { timeoutMs, intervalMs: 50 },
    );
    await this.waitForNodes([...this.nodes.keys()]);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.sandbox.stop(1000);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Prepares the workers' boxes while the other daemons come up; the returned function starts them. */
  #startNodesLater(count: number): () => Promise<void> {
    const configuration = 'CPUs=4 RealMemory=4000 Feature=mini';
    const prepared = (async () => {
      const boxes: Box[] = [];
      for (let index = 0; index < count; index += 1)
        boxes.push(await this.#addNode(`n${index}`, configuration));
      return boxes;
    })();
    prepared.catch(() => undefined); // awaited below; must not end the process before
    return async () => {
      await Promise.all((await prepared).map((box) => box.start()));
    };
  }

  async #addNode(name: string, configuration: string, flags: readonly string[] = []): Promise<Box> {
    const address = this.#free.shift() ?? nodeAddress(this.#nextNode++);
    const box = await this.sandbox.addBox({
      ...nodeBox(this.#plan, name, configuration, flags),
      rootfs: this.#rootfs,
      networks: [{ network: this.#network, address }],
    });
    this.nodes.set(name, box);
    return box;
  }

  async #startAccounting(): Promise<{ accounting: Box; database: Box }> {
    const sockets = join(this.sandbox.directory, 'mysqld');
    await mkdir(sockets, { recursive: true });
    await chmod(sockets, 0o777);
    const database = await this.sandbox.startBox({ ...databaseBox(sockets), rootfs: this.#rootfs });
    const ready = ['mariadb-admin', '--no-defaults', '--socket=/run/mysqld/mysqld.sock', 'ping'];
    await database.waitFor(
      'MariaDB',
      async () => (await database.exec(ready, { allowFailure: true })).exitCode === 0,
      { intervalMs: 50 },
    );
    const accounting = await this.#startBox(accountingBox(this.#plan, sockets), addresses.accounting);
    await accounting.waitForPort(6819, { intervalMs: 20 });
    return { accounting, database };
  }

  #startBox(options: ReturnType<typeof controllerBox | typeof restBox>, address: string): Promise<Box> {
    return this.sandbox.startBox({
      ...options,
      rootfs: this.#rootfs,
      networks: [{ network: this.#network, address }],
    });
  }

  #running() {
    if (this.#boxes === undefined) throw new Error('this mini Slurm has not been started');
    return this.#boxes;
  }
}

const withClock = ({ directory, env }: SteppedClock) => ({
  env,
  mounts: [{ source: directory, target: clockDirectory }],
});
