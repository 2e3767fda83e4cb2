/** One node of a cluster: a machine with its cables, an agent on it, and the switches that make it fail. */
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { type ClusterConfig, type Log } from '@slurm-operator/kube';
import { Agent } from '../agent/agent.ts';
import { ApiLink } from '../agent/api-link.ts';
import type { ImageStore } from '../agent/images/image-store.ts';
import type { NodeDescription } from '../agent/node-object.ts';
import { type Cgroups } from '../agent/runtime/cgroups.ts';
import { AgentServer, type ServingCertificate } from '../agent/server/agent-server.ts';
import { Machine } from '../machine/machine.ts';
import type { Toolbox } from '../machine/toolbox.ts';
import type { ClusterNetwork } from '../network/cluster-network.ts';
import type { ServiceProxy } from '../network/service-proxy.ts';
import type { Service } from '../objects/objects.ts';

export type NodeState = 'running' | 'stopped' | 'cut';

export interface NodeOptions {
  readonly index: number;
  readonly name: string;
  readonly clusterName: string;
  readonly directory: string;
  readonly network: ClusterNetwork;
  readonly proxy: ServiceProxy;
  readonly tools: Toolbox;
  readonly cgroups: Cgroups;
  readonly images: ImageStore;
  readonly services: () => readonly Service[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly apiServer: { readonly host: string; readonly port: number };
  /** The node's own credentials, for the address its link listens on. */
  readonly credentials: (server: string) => ClusterConfig;
  readonly serving: (hosts: readonly string[]) => Promise<ServingCertificate>;
  readonly peers: () => readonly ClusterNode[];
  readonly heartbeatMs?: number | undefined;
  readonly log: Log;
}

/** Where the API server finds the agent, as on any real node. */
const agentPort = 10_250;

export class ClusterNode {
  readonly index: number;
  readonly name: string;
  readonly address: string;
  readonly #options: NodeOptions;
  #state: NodeState = 'stopped';
  #machine: Machine | undefined;
  #agent: Agent | undefined;
  #server: AgentServer | undefined;
  #link: ApiLink | undefined;

  constructor(options: NodeOptions) {
    this.index = options.index;
    this.name = options.name;
    this.#options = options;
    this.address = options.network.plan.nodeAddress(options.index);
  }

  get state(): NodeState {
    return this.#state;
  }

  get machine(): Machine | undefined {
    return this.#machine;
  }

  get agent(): Agent | undefined {
    return this.#agent;
  }

  async start(): Promise<void> {
    if (this.#state === 'cut') return this.plugIn();
    if (this.#state === 'running') return;
    const { network, proxy, tools, log, directory } = this.#options;
    const machine = await Machine.start(this.name, tools);
    this.#machine = machine;
    try {
      const peers = this.#options
        .peers()
        .flatMap((peer) =>
          peer !== this && peer.machine !== undefined ? [{ index: peer.index, machine: peer.machine }] : [],
        );
      await network.connect(this.index, machine, peers);
      const link = await ApiLink.open(this.#options.apiServer);
      this.#link = link;
      this.#server = await AgentServer.listen(
        network.plan.host,
        await this.#options.serving([this.name, this.address]),
        () => this.#agent,
      );
      await proxy.add(this.name, {
        machine,
        redirects: [{ from: this.address, port: agentPort, to: `${network.plan.host}:${this.#server.port}` }],
      });
      const node = this.#describe();
      this.#agent = new Agent({
        node,
        config: this.#options.credentials(`https://127.0.0.1:${link.port}`),
        directory: join(directory, this.name),
        machine,
        tools,
        cgroups: this.#options.cgroups,
        cgroupRoot: `/localcluster-${this.#options.clusterName}/${this.name}`,
        images: this.#options.images,
        services: this.#options.services,
        dns: {
          clusterDns: network.plan.dnsService,
          clusterDomain: 'cluster.local',
          nodeResolvConf: `nameserver ${network.plan.dnsService}\n`,
        },
        suspended: () => this.#state === 'cut',
        heartbeatMs: this.#options.heartbeatMs,
        log,
      });
      await this.#agent.start();
      this.#state = 'running';
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Power off: containers end without any report. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#options.proxy.remove(this.name);
    const [agent, machine, server, link] = [this.#agent, this.#machine, this.#server, this.#link];
    this.#agent = this.#machine = this.#server = this.#link = undefined;
    link?.cut();
    await Promise.all([agent?.powerCut(), machine?.cutPower()]);
    await server?.close();
    await link?.close();
  }

  /** The cable is out: the node runs on, alone. */
  async cut(): Promise<void> {
    if (this.#state !== 'running' || this.#machine === undefined) return;
    this.#state = 'cut';
    this.#link?.cut();
    await this.#options.network.pullOut(this.#machine);
  }

  async plugIn(): Promise<void> {
    if (this.#state !== 'cut' || this.#machine === undefined) return;
    const { network } = this.#options;
    await network.plugIn(
      this.index,
      this.#machine,
      this.#options.peers().map((peer) => peer.index),
    );
    this.#link?.restore();
    this.#state = 'running';
  }

  #describe(): NodeDescription {
    const { network, capacity, labels } = this.#options;
    const osRelease = readFileSync('/etc/os-release', 'utf8');
    return {
      name: this.name,
      address: this.address,
      podCidr: network.plan.podCidr(this.index),
      agentPort,
      capacity,
      labels,
      kernel: release(),
      osImage: /^PRETTY_NAME="(.*)"/m.exec(osRelease)?.[1] ?? 'Linux',
      bootId: crypto.randomUUID(),
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    };
  }
}
