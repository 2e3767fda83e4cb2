/** The agent of one node: follows the pods bound to it and keeps a worker for each. */
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ClusterConfig,
  createClient,
  EventRecorder,
  Informer,
  type Log,
  silent,
} from '@slurm-operator/kube';
import type { Machine } from '../machine/machine.ts';
import type { Toolbox } from '../machine/toolbox.ts';
import { type Pod, pods, type Service } from '../objects/objects.ts';
import { capabilitiesOf } from './bundle/capabilities.ts';
import { clientNodeApi } from './client-node-api.ts';
import { beat, register } from './heartbeat.ts';
import type { ImageStore } from './images/image-store.ts';
import type { NodeDescription } from './node-object.ts';
import type { DnsConfig } from './pod/pod-files.ts';
import { PodWorker } from './pod/pod-worker.ts';
import type { Cgroups } from './runtime/cgroups.ts';

export interface AgentOptions {
  readonly node: NodeDescription;
  readonly config: ClusterConfig;
  readonly directory: string;
  readonly machine: Machine;
  readonly tools: Toolbox;
  readonly cgroups: Cgroups;
  readonly cgroupRoot: string;
  readonly images: ImageStore;
  readonly services: () => readonly Service[];
  readonly dns: DnsConfig;
  readonly suspended: () => boolean;
  /** Interval of the node's heartbeat. @default 10 s */
  readonly heartbeatMs?: number | undefined;
  readonly now?: () => number;
  readonly log?: Log;
}

export class Agent {
  readonly node: NodeDescription;
  readonly #options: AgentOptions;
  readonly #workers = new Map<string, PodWorker>();
  readonly #stop = new AbortController();
  readonly #free: string[];
  readonly #capabilities: readonly string[];
  readonly #now: () => number;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: AgentOptions) {
    this.node = options.node;
    this.#options = options;
    this.#now = options.now ?? (() => Date.now());
    const base = options.node.podCidr.replace(/\.0\/24$/, '');
    this.#free = Array.from({ length: 250 }, (_, index) => `${base}.${index + 2}`);
    const mask = /^CapBnd:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    this.#capabilities = capabilitiesOf(mask);
  }

  /** Resolves when the node is registered and its pods are known. */
  async start(): Promise<void> {
    const { config, directory, log = silent } = this.#options;
    const { signal } = this.#stop;
    for (const part of ['pods', 'containers', 'logs', 'root', 'runc'])
      await mkdir(join(directory, part), { recursive: true });
    const client = createClient(config, { userAgent: 'kubelet', fieldManager: 'kubelet', rateLimit: false });
    const recorder = new EventRecorder(client, { controller: 'kubelet', instance: this.node.name }, { log });
    const api = clientNodeApi({ client, recorder, services: this.#options.services, now: this.#now });
    const heart = {
      client,
      node: this.node,
      images: () => this.#options.images.list(),
      now: this.#now,
      signal,
      everyMs: this.#options.heartbeatMs ?? 10_000,
    };
    await register(heart);
    const informer = new Informer(
      client,
      pods,
      { fieldSelector: `spec.nodeName=${this.node.name}`, backoff: { initial: 200, limit: 2000 } },
      { log },
    );
    informer.subscribe((change) => {
      if (signal.aborted) return;
      if (change.type === 'deleted') this.#workers.get(change.object.metadata.uid)?.forget();
      else this.#follow(change.object, api);
    });
    this.#running = Promise.all([informer.start(signal), recorder.run(signal), beat(heart)]).finally(() =>
      client.close(),
    );
    await informer.waitForSync({ signal, timeout: 30_000 });
  }

  find(namespace: string, name: string): PodWorker | undefined {
    for (const worker of this.#workers.values())
      if (worker.pod.metadata.namespace === namespace && worker.pod.metadata.name === name) return worker;
    return undefined;
  }

  get workers(): readonly PodWorker[] {
    return [...this.#workers.values()];
  }

  /** The node lost its power: nothing is said and nothing is tidied up. */
  async powerCut(): Promise<void> {
    this.#stop.abort();
    for (const worker of this.#workers.values()) worker.powerCut();
    await Promise.allSettled([this.#running, ...[...this.#workers.values()].map((worker) => worker.done)]);
    this.#workers.clear();
  }

  #follow(pod: Pod, api: ReturnType<typeof clientNodeApi>): void {
    const known = this.#workers.get(pod.metadata.uid);
    if (known !== undefined) {
      known.update(pod);
      return;
    }
    const { machine, tools, cgroups, cgroupRoot, images, dns, directory, suspended } = this.#options;
    const worker = new PodWorker(pod, {
      nodeName: this.node.name,
      nodeAddress: this.node.address,
      directory,
      machine,
      tools,
      cgroups,
      cgroupRoot,
      images,
      api,
      dns,
      suspended,
      capabilities: this.#capabilities,
      allocatable: this.node.capacity,
      now: this.#now,
      // The oldest free address first: a name that pointed to the last owner has time to be forgotten.
      takeAddress: () => this.#free.shift() ?? '',
      giveAddress: (address) => this.#free.push(address),
    });
    this.#workers.set(pod.metadata.uid, worker);
    void worker.done.finally(() => {
      if (this.#workers.get(worker.uid) === worker) this.#workers.delete(worker.uid);
    });
  }
}
