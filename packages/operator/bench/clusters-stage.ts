/** Many clusters of one operator: a Controller, a NodeSet and a simulated Slurm each, on one API server with hollow machines. */
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { customResourceDefinition, kinds, type NodeSet } from '@slurm-operator/api';
import {
  type Client,
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
import { inParallel } from '../src/kinds/nodeset/act/in-parallel.ts';
import { end, startBenchOperator, startBenchServer, untilHolds, usageOf } from './bench-processes.ts';
import { HollowMachines } from './hollow-machines.ts';
import type { Usage } from './nodeset-manager-process.ts';

const image = 'slurm-operator/slurmd:26.05';
const atOnce = 16;

/** A cluster lives in a namespace of its own; its Controller, Cluster and NodeSet have its name. */
export const clusterName = (index: number): string => `c${index}`;

export class ClustersStage implements AsyncDisposable {
  readonly client: Client;
  readonly slurms: readonly Simulator[];
  /** When the watch showed that a pod is to go, by its host name, which names its cluster. */
  readonly deletedAt = new Map<string, number>();
  readonly #directory: string;
  readonly #server: ChildProcess;
  readonly #machines: HollowMachines;
  readonly #running = new Set<string>();
  readonly #stop = new AbortController();
  readonly #operators: ChildProcess[] = [];
  #watching: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  private constructor(client: Client, slurms: readonly Simulator[], server: ChildProcess, directory: string) {
    this.client = client;
    this.slurms = slurms;
    this.#server = server;
    this.#directory = directory;
    this.#machines = new HollowMachines(client);
  }

  static async open(count: number, machines: number): Promise<ClustersStage> {
    const { server, directory, client } = await startBenchServer('bench-clusters');
    const slurms = await Promise.all(
      Array.from({ length: count }, () =>
        startSimulator({ latency: 'measured', json: 'compact', maxRequests: 1_000_000 }),
      ),
    );
    const stage = new ClustersStage(client, slurms, server, directory);
    await stage.#prepare(machines);
    return stage;
  }

  async #prepare(machines: number): Promise<void> {
    const { client } = this;
    for (const kind of kinds)
      await client.create(
        customResourceDefinitions,
        draftOf(customResourceDefinitions, customResourceDefinition(kind)),
      );
    await this.#machines.add(machines, () => ({}));
    await this.until('the kinds are served', 60, () =>
      client.list(nodeSets, {}).then(
        () => true,
        () => false,
      ),
    );
    await this.#forEach(async (index) => {
      const namespace = clusterName(index);
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      const slurm = this.slurms[index] as Simulator;
      await client.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'token', namespace },
        data: { SLURM_JWT: Buffer.from(slurm.token('slurm', 86_400)).toString('base64') },
      });
      const keys = {
        slurmKeyRef: { name: 'key', key: 'slurm.key' },
        jwtKeyRef: { name: 'key', key: 'jwt.key' },
      };
      await client.create(controllers, draftOf(controllers, object('Controller', namespace, keys)));
      const target = { server: slurm.server, tokenSecretRef: { name: 'token', key: 'SLURM_JWT' } };
      await client.create(clusters, draftOf(clusters, object('Cluster', namespace, target)));
    });
    this.#watching = this.#followPods();
  }

  async #followPods(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted)
      try {
        await this.client.watch(pods, { sendInitialEvents: true, signal }, (event) => {
          if (event.type === 'ADDED' || event.type === 'MODIFIED' || event.type === 'DELETED')
            this.#seen(event.type, event.object);
        });
      } catch (error) {
        if (!signal.aborted) console.error('the watch of the benchmark broke:', error);
      }
  }

  #seen(type: string, pod: Live<Pod>): void {
    const hostname = pod.spec?.hostname ?? '';
    const { uid, namespace, deletionTimestamp } = pod.metadata;
    if (type === 'DELETED') this.#machines.left(pod);
    else this.#machines.see(pod).catch((error: unknown) => (this.#failure ??= error));
    if (deletionTimestamp !== undefined && !this.deletedAt.has(hostname))
      this.deletedAt.set(hostname, Date.now());
    if (type === 'DELETED' || pod.status?.phase !== 'Running') this.#running.delete(uid);
    else if (!this.#running.has(uid)) {
      this.#running.add(uid);
      const slurm = this.slurms[Number(namespace?.slice(1))];
      slurm?.cluster.addNode(hostname, { features: [namespace ?? ''], address: pod.status?.podIP ?? '' });
    }
  }

  /** As the image has it. `namespaces`: what it is responsible for; by default all. */
  async startOperator(responsibleFor?: readonly string[]): Promise<number> {
    const flags = responsibleFor === undefined ? [] : [`--namespaces=${responsibleFor.join(',')}`];
    this.#operators.push(await startBenchOperator(this.#directory, flags));
    return this.#operators.length - 1;
  }

  usage(operator = 0): Promise<Usage> {
    return usageOf(this.#operators[operator]);
  }

  createNodeSets(replicas: number): Promise<void> {
    return this.#forEach(async (index) => {
      const name = clusterName(index);
      const spec = { controllerRef: { name }, slurmd: { image }, replicas };
      await this.client.create(nodeSets, draftOf(nodeSets, object('NodeSet', name, spec)));
    });
  }

  async patchNodeSet(index: number, spec: object): Promise<void> {
    const name = clusterName(index);
    await this.client.mergePatch(nodeSets, { namespace: name, name }, { spec });
  }

  /** How many NodeSets say that so many workers of the newest spec are ready. */
  async settled(replicas: (index: number) => number): Promise<ReadonlySet<number>> {
    const { items } = await this.client.list(nodeSets, {});
    return new Set(
      items.flatMap(({ metadata, status }) => {
        const index = Number(metadata.name.slice(1));
        const {
          observedGeneration,
          readyReplicas,
          replicas: total,
        } = (status ?? {}) as Partial<NonNullable<NodeSet['status']>>;
        const isSettled =
          observedGeneration === metadata.generation &&
          readyReplicas === replicas(index) &&
          total === replicas(index);
        return isSettled ? [index] : [];
      }),
    );
  }

  slurmMegabytes(): number {
    const bytes = this.slurms.flatMap(({ requests }) => requests.map((request) => request.bytes));
    return bytes.reduce((sum, each) => sum + each, 0) / 1e6;
  }

  slurmRequests(): number {
    return this.slurms.reduce((sum, { requests }) => sum + requests.length, 0);
  }

  until(
    what: string,
    seconds: number,
    holds: () => boolean | Promise<boolean>,
    everyMs = 100,
  ): Promise<void> {
    return untilHolds({ what, seconds, everyMs, failure: () => this.#failure }, holds);
  }

  async #forEach(work: (index: number) => Promise<void>): Promise<void> {
    const indexes = this.slurms.map((_, index) => index);
    const failures = await inParallel(indexes, atOnce, work);
    if (failures.length > 0) throw failures[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const operator of this.#operators) await end(operator);
    this.#stop.abort();
    await this.#watching;
    await Promise.all(this.slurms.map((slurm) => slurm.stop()));
    this.client.close();
    await end(this.#server);
    await rm(this.#directory, { recursive: true, force: true });
  }
}

const object = (kind: string, name: string, spec: object): object => ({
  apiVersion: 'slinky.slurm.net/v1beta1',
  kind,
  metadata: { name, namespace: name },
  spec,
});
