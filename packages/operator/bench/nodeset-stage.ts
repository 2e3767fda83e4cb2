/** An API server with hollow machines, a simulated Slurm whose nodes register when their pods run, and the operator between them. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import {
  accountingKind,
  clusterKind,
  controllerKind,
  customResourceDefinition,
  loginSetKind,
  type NodeSet,
  nodeSetKind,
  resourceName,
  restApiKind,
  tokenKind,
} from '@slurm-operator/api';
import {
  type Client,
  configMaps,
  customResourceDefinitions,
  draftOf,
  type Live,
  namespaces,
  type Pod,
  pods,
  secrets,
} from '@slurm-operator/kube';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { clusters, controllers, nodeSets } from '../src/cache/resources.ts';
import { inParallel, slowStart } from '../src/kinds/nodeset/act/in-parallel.ts';
import { workerPod } from '../src/kinds/nodeset/objects/worker-pod.ts';
import { workerTemplate } from '../src/kinds/nodeset/objects/worker-template.ts';
import { powerSavingAnnotation } from '../src/slurm-config/render/config-map.ts';
import { end, startBenchOperator, startBenchServer, untilHolds, usageOf } from './bench-processes.ts';
import { HollowMachines } from './hollow-machines.ts';
import type { Usage } from './nodeset-manager-process.ts';

export const namespace = 'slurm';
export const image = 'slurm-operator/slurmd:26.05';
/** What every machine says of itself, four to a rack. */
const topologyOf = (index: number) => `topo:rack${Math.floor(index / 4)}`;

export class BenchStage implements AsyncDisposable {
  readonly client: Client;
  readonly slurm: Simulator;
  /** Pods by name, as the watch shows them. */
  readonly pods = new Map<string, Live<Pod>>();
  /** When the watch showed that a pod is to go, by its Slurm node. */
  readonly deletedAt = new Map<string, number>();
  readonly #directory: string;
  readonly #server: ChildProcess;
  readonly #machines: HollowMachines;
  readonly #stop = new AbortController();
  #operator: ChildProcess | undefined;
  #watching: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  private constructor(parts: { client: Client; slurm: Simulator; server: ChildProcess; directory: string }) {
    this.client = parts.client;
    this.slurm = parts.slurm;
    this.#server = parts.server;
    this.#directory = parts.directory;
    this.#machines = new HollowMachines(parts.client);
  }

  static async open(machines: number): Promise<BenchStage> {
    const { server, directory, client } = await startBenchServer('bench-nodeset');
    // One node without a worker: changes "elsewhere" are made there.
    const slurm = await startSimulator({
      nodes: 'elsewhere',
      latency: 'measured',
      json: 'compact', // as the operator configures its slurmrestd
      maxRequests: 2_000_000,
    });
    const stage = new BenchStage({ client, slurm, server, directory });
    await stage.#prepare(machines);
    stage.#watching = stage.#followPods();
    return stage;
  }

  async #prepare(machines: number): Promise<void> {
    const { client } = this;
    for (const kind of [
      clusterKind,
      controllerKind,
      nodeSetKind,
      accountingKind,
      loginSetKind,
      restApiKind,
      tokenKind,
    ])
      await client.create(
        customResourceDefinitions,
        draftOf(customResourceDefinitions, customResourceDefinition(kind)),
      );
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await this.#machines.add(machines, (index) => ({ 'topology.slinky.slurm.net/spec': topologyOf(index) }));
    await client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'token', namespace },
      data: { SLURM_JWT: Buffer.from(this.slurm.token('slurm', 86_400)).toString('base64') },
    });
    const object = (kind: string, spec: object) => ({
      apiVersion: 'slinky.slurm.net/v1beta1',
      kind,
      metadata: { name: 'main', namespace },
      spec,
    });
    await this.until('the kinds are served', 30, async () =>
      client.list(nodeSets, { namespace }).then(
        () => true,
        () => false,
      ),
    );
    const keys = {
      slurmKeyRef: { name: 'key', key: 'slurm.key' },
      jwtKeyRef: { name: 'key', key: 'jwt.key' },
    };
    await client.create(controllers, draftOf(controllers, object('Controller', keys)));
    // Instead of the reconciler of Controllers: its slurm.conf lets slurmctld wake nodes.
    const annotations = { [powerSavingAnnotation]: 'true' };
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: resourceName.config('main'), namespace, annotations },
    });
    const target = { server: this.slurm.server, tokenSecretRef: { name: 'token', key: 'SLURM_JWT' } };
    await client.create(clusters, draftOf(clusters, object('Cluster', target)));
  }

  async #followPods(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.client.watch(
          pods,
          { namespace, sendInitialEvents: true, signal: this.#stop.signal },
          (event) => {
            if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED')
              this.#seen(event.type, event.object);
          },
        );
      } catch (error) {
        if (!this.#stop.signal.aborted) console.error('the watch of the benchmark broke:', error);
      }
    }
  }

  #seen(type: string, pod: Live<Pod>): void {
    const hostname = pod.spec?.hostname ?? '';
    if (type === 'DELETED') this.#machines.left(pod);
    else this.#machines.see(pod).catch((error: unknown) => (this.#failure ??= error));
    const before = this.pods.get(pod.metadata.name);
    if (type === 'DELETED') this.pods.delete(pod.metadata.name);
    else this.pods.set(pod.metadata.name, pod);
    if (pod.metadata.deletionTimestamp !== undefined && !this.deletedAt.has(hostname))
      this.deletedAt.set(hostname, Date.now());
    const runs = (one: Live<Pod> | undefined) =>
      one?.status?.phase === 'Running' && one.metadata.uid === pod.metadata.uid;
    // Its slurmd comes up and registers; a worker of the raw creates has none.
    if (type !== 'DELETED' && runs(pod) && !runs(before) && pod.metadata.labels?.['raw'] === undefined)
      this.slurm.cluster.addNode(hostname, { features: ['w'], address: pod.status?.podIP ?? '' });
  }

  async startOperator(): Promise<void> {
    this.#operator = await startBenchOperator(this.#directory);
  }

  async stopOperator(): Promise<void> {
    const operator = this.#operator;
    if (operator === undefined) return;
    const gone = once(operator, 'exit', { signal: AbortSignal.timeout(60_000) });
    operator.kill('SIGTERM');
    await gone;
    this.#operator = undefined;
  }

  usage(): Promise<Usage> {
    return usageOf(this.#operator);
  }

  /** How often the operator has requested what of Kubernetes, such as `patch pods/status`. */
  async kubeRequests(): Promise<Readonly<Record<string, number>>> {
    const answer = once(this.#server, 'message', { signal: AbortSignal.timeout(60_000) });
    this.#server.send({});
    return ((await answer) as [{ counts: Record<string, number> }])[0].counts;
  }

  async isConnected(): Promise<boolean> {
    const { status } = await this.client.get(clusters, { namespace, name: 'main' });
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  }

  /** Requests to Slurm that changed something, and all of them, so far. */
  slurmRequests(): {
    readonly all: number;
    readonly writes: number;
    readonly megabytes: number;
    readonly lists: number;
  } {
    const { requests } = this.slurm;
    return {
      all: requests.length,
      writes: requests.filter(({ method }) => method !== 'GET').length,
      megabytes: requests.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6,
      lists: requests.filter(({ path, status }) => path === 'slurm/nodes/' && status === 200).length,
    };
  }

  async createNodeSet(spec: object): Promise<void> {
    await this.client.create(nodeSets, draftOf(nodeSets, nodeSetOf(spec)));
  }

  /** The workers that the operator would make, as pods without an owner, until all of them run; then deletes them. */
  async createRaw(count: number): Promise<number> {
    const { client } = this;
    const nodeSet = await client.create(nodeSets, draftOf(nodeSets, nodeSetOf({ replicas: count }, 'raw')), {
      dryRun: true,
    });
    const controller = await client.get(controllers, { namespace, name: 'main' });
    const defaults = { clusterDomain: 'cluster.local', defaultImage: image };
    const template = workerTemplate(nodeSet as unknown as NodeSet, controller as never, defaults);
    const make = async (ordinal: number) => {
      const name = `raw-${ordinal}`;
      const slot = { mode: 'StatefulSet', ordinal } as const;
      const identity = { slot, hostname: name, revision: 'raw', hashes: {}, pinnedTo: undefined };
      const pod = workerPod(nodeSet as unknown as NodeSet, template, identity);
      const labels = { ...pod.metadata?.labels, raw: 'true' };
      await client.create(pods, { ...pod, metadata: { ...pod.metadata, name, labels } });
    };
    const ordinals = Array.from({ length: count }, (_, ordinal) => ordinal);
    const began = performance.now();
    const failures = await slowStart(ordinals, 16, make);
    if (failures.length > 0) throw failures[0];
    await this.untilRunning(count);
    const seconds = (performance.now() - began) / 1000;
    await inParallel(ordinals, 16, async (ordinal) => {
      await client.delete(pods, { namespace, name: `raw-${ordinal}` }, { gracePeriodSeconds: 0 });
    });
    await this.until('the raw pods are gone', 900, () => this.pods.size === 0);
    return seconds;
  }

  async deleteNodeSet(): Promise<void> {
    await this.client.delete(nodeSets, { namespace, name: 'w' });
    await this.until('the NodeSet and its workers are gone', 900, async () => {
      return (
        this.pods.size === 0 && (await this.client.find(nodeSets, { namespace, name: 'w' })) === undefined
      );
    });
    this.deletedAt.clear();
  }

  async patchNodeSet(spec: object): Promise<void> {
    await this.client.mergePatch(nodeSets, { namespace, name: 'w' }, { spec });
  }

  async nodeSet(): Promise<NodeSet> {
    return (await this.client.get(nodeSets, { namespace, name: 'w' })) as unknown as NodeSet;
  }

  running(): number {
    return [...this.pods.values()].filter(
      (pod) => pod.status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined,
    ).length;
  }

  /** Looked for often: at a hundred workers a tenth of a second is much. */
  untilRunning(count: number): Promise<void> {
    return this.until('all pods run', 900, () => this.running() === count, 20);
  }

  /** Every worker of the newest revision, Ready, with its Slurm state on the pod, its topology on both sides and its comment. */
  async isSettled(workers: number): Promise<boolean> {
    const { status, metadata } = await this.nodeSet();
    const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
    if (ready?.status !== 'True' || status?.observedGeneration !== metadata.generation) return false;
    if (status?.updatedReplicas !== workers || this.pods.size !== workers) return false;
    for (const pod of this.pods.values()) {
      const node = this.slurm.cluster.nodes.get(pod.spec?.hostname ?? '');
      const mirrored = pod.status?.conditions?.some(({ type }) => type === 'SlurmNodeStateIdle');
      const topology = pod.metadata.annotations?.['topology.slinky.slurm.net/spec'] ?? '';
      if (!mirrored || topology === '' || node?.topology !== topology) return false;
      if (!node.comment.includes(`"podName":"${pod.metadata.name}"`) || node.flags.has('DRAIN')) return false;
    }
    return true;
  }

  until(
    what: string,
    seconds: number,
    holds: () => boolean | Promise<boolean>,
    everyMs = 100,
  ): Promise<void> {
    return untilHolds({ what, seconds, everyMs, failure: () => this.#failure }, holds);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#operator);
    this.#stop.abort();
    await this.#watching;
    await this.slurm.stop();
    this.client.close();
    await end(this.#server);
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function nodeSetOf(spec: object, name = 'w'): object {
  return {
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'NodeSet',
    metadata: { name, namespace },
    spec: { controllerRef: { name: 'main' }, slurmd: { image }, ...spec },
  };
}
