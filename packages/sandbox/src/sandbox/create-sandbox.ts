import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidRequestError, requireRoot, SandboxError } from '../errors.ts';
import { identify, isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { Box, type BoxOptions } from './box.ts';
import { type Cgroup, createCgroup } from './cgroups.ts';
import { cleanSandboxes, undo } from './clean-sandboxes.ts';
import { type Forward, Forwarder, type ForwardTarget } from './forwarder.ts';
import type { HeldProcess } from './held-process.ts';
import { type HostPrograms, hostPrograms } from './host-programs.ts';
import { holdNamespaces } from './namespace-holder.ts';
import { ipInside, Network, type Port } from './network.ts';
import { keepProcesses } from './process-keeper.ts';
import { readRecord, SandboxRecord, sandboxesDirectory } from './sandbox-record.ts';
import { setSysctl } from './sysctls.ts';

export interface SandboxOptions {
  /** Unique on this machine; a-z, 0-9 and "-". What a dead program left under this name is removed first. */
  readonly name: string;
}

/** Creates an empty sandbox for networks and boxes, which can be removed completely. Needs root. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  requireRoot(`The sandbox ${options.name}`);
  checkName('sandbox', options.name);
  const directory = join(sandboxesDirectory(), options.name);
  const before = readRecord(directory);
  if (before !== undefined && isAlive(before.owner))
    throw new SandboxError(
      'NAME_TAKEN',
      `sandbox ${options.name} is in use by process ${before.owner.pid}: choose another name.`,
    );
  await cleanSandboxes({ name: options.name });
  const owner = identify(process.pid);
  if (owner === undefined) throw new SandboxError('START_FAILED', '/proc does not know this process');
  const record = new SandboxRecord(directory, {
    name: options.name,
    owner,
    processes: [],
    cgroups: [],
    sysctls: {},
  });
  try {
    const programs = await hostPrograms();
    const hub = await holdNamespaces(programs, record, 'hub', options.name);
    await ipInside(programs, hub.identity.pid, ['link set lo up']);
    const keeper = await keepProcesses(programs, record);
    return new Sandbox(options.name, programs, record, hub, keeper);
  } catch (error) {
    await removeAll(record);
    throw error;
  }
}

/** Undoes all that the record holds, and the record itself. */
async function removeAll(record: SandboxRecord): Promise<void> {
  await undo(record.close());
  await rm(record.directory, { recursive: true, force: true });
}

export class Sandbox {
  readonly name: string;
  readonly #programs: HostPrograms;
  readonly #record: SandboxRecord;
  /** Keeps the network namespace in which the bridges are. */
  readonly #hub: HeldProcess;
  /** With it every process of every box ends. */
  readonly #keeper: ProcessIdentity;
  readonly #forwarder: Forwarder;
  readonly #networks = new Map<string, Network>();
  readonly #boxes = new Map<string, Box>();

  constructor(
    name: string,
    programs: HostPrograms,
    record: SandboxRecord,
    hub: HeldProcess,
    keeper: ProcessIdentity,
  ) {
    this.name = name;
    this.#programs = programs;
    this.#record = record;
    this.#hub = hub;
    this.#keeper = keeper;
    this.#forwarder = new Forwarder(programs, record, hub.identity.pid);
  }

  /** Where logs and the boxes' own files are, until the sandbox stops. */
  get directory(): string {
    return this.#record.directory;
  }

  get boxes(): readonly Box[] {
    return [...this.#boxes.values()];
  }

  /** A bridge. Default subnet: 10.79.0.0/24, the next network 10.79.1.0/24, and so on. */
  async addNetwork(name: string, options: { readonly subnet?: string } = {}): Promise<Network> {
    checkName('network', name);
    if (this.#networks.has(name)) throw new InvalidRequestError(`network ${name} exists already.`);
    const index = this.#networks.size;
    const subnet = options.subnet ?? `10.79.${index}.0/24`;
    const hub = { pid: this.#hub.identity.pid, sandbox: this.name };
    const network = new Network(this.#programs, hub, index, name, subnet);
    await network.up();
    this.#networks.set(name, network);
    return network;
  }

  /** A box with its network, not yet started. */
  async addBox(options: BoxOptions): Promise<Box> {
    checkName('box', options.name);
    if (this.#boxes.has(options.name)) throw new InvalidRequestError(`box ${options.name} exists already.`);
    const directory = join(this.#record.directory, 'boxes', options.name);
    await mkdir(directory, { recursive: true });
    const holder = await holdNamespaces(
      this.#programs,
      this.#record,
      `namespaces of box ${options.name}`,
      options.hostname ?? options.name,
    );
    const shared = options.networkOf?.place;
    const ports: Port[] = [];
    if (shared === undefined) {
      await ipInside(this.#programs, holder.identity.pid, ['link set lo up']);
      for (const [index, wanted] of (options.networks ?? []).entries()) {
        const [network, address] = wanted instanceof Network ? [wanted] : [wanted.network, wanted.address];
        ports.push(await network.connect(holder.identity.pid, `eth${index}`, address));
      }
    }
    const box = new Box(options, {
      programs: this.#programs,
      record: this.#record,
      directory,
      keeper: this.#keeper,
      holder,
      networkHolder: shared?.networkHolder ?? holder,
      ports: shared?.ports ?? ports,
    });
    this.#boxes.set(options.name, box);
    return box;
  }

  /** A box, started. */
  async startBox(options: BoxOptions): Promise<Box> {
    const box = await this.addBox(options);
    await box.start();
    return box;
  }

  async removeBox(box: Box): Promise<void> {
    await box.remove();
    this.#boxes.delete(box.name);
  }

  /** A port of the machine's 127.0.0.1 that leads to an address inside. */
  async forward(target: ForwardTarget): Promise<Forward> {
    return this.#forwarder.forward(target);
  }

  /** Changes a kernel setting of the whole machine until the sandbox stops. */
  async setSysctl(name: string, value: string): Promise<void> {
    await setSysctl(this.#record, name, value);
  }

  /** A cgroup in every hierarchy, removed with all below it when the sandbox stops. */
  async createCgroup(name: string): Promise<Cgroup> {
    return createCgroup(this.#record, `${this.name}-${name}`);
  }

  /** Ends the boxes (SIGTERM, then SIGKILL after `graceMs`, default 5 s) and removes every trace. */
  async stop(graceMs?: number): Promise<void> {
    // A box that cannot be stopped politely is ended with the rest below.
    await Promise.allSettled(this.boxes.map((box) => box.stop(graceMs)));
    await this.#forwarder.stop();
    await removeAll(this.#record);
    this.#boxes.clear();
  }
}

function checkName(what: string, name: string): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name))
    throw new InvalidRequestError(
      `${what} name "${name}" may hold a-z, 0-9 and "-" only, at most 63 of them.`,
    );
}
