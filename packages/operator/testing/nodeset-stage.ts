/** A stage for tests of the NodeSet controller: an embedded API server with our CRDs, machines, a fake kubelet, a fake Slurm, and the controller itself. */
import {
  type Controller,
  clusterKind,
  controllerKind,
  customResourceDefinition,
  type NodeSet,
  nodeSetKind,
} from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  ChannelSource,
  type Client,
  createClient,
  createManager,
  customResourceDefinitions,
  type Draft,
  kubeconfigConfig,
  namespaces,
  nodes,
  type Pod,
  pods,
  sleep,
  timestamp,
} from '@slurm-operator/kube';
import { setupNodeSets } from '../src/nodeset/setup.ts';
import { controllers, nodeSets } from '../src/resources.ts';
import { runFakeKubelet } from './fake-kubelet.ts';
import { FakeSlurm } from './fake-slurm.ts';

const namespace = 'slurm';

export class NodeSetStage implements AsyncDisposable {
  readonly server: ApiServer;
  readonly client: Client;
  readonly slurm: FakeSlurm;
  readonly #changes: ChannelSource[] = [];
  readonly #kubelet = new AbortController();
  #kubeletDone: Promise<void> = Promise.resolve();
  #operator: { stop: AbortController; done: Promise<void> } | undefined;

  private constructor(server: ApiServer, client: Client) {
    this.server = server;
    this.client = client;
    this.slurm = new FakeSlurm(() => {
      for (const source of this.#changes) source.trigger({ namespace, name: 'main' });
    });
  }

  static async open(machines = 3): Promise<NodeSetStage> {
    const server = await startApiServer();
    const client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), {
      rateLimit: false,
      fieldManager: 'test',
      userAgent: 'test',
    });
    const stage = new NodeSetStage(server, client);
    for (const kind of [controllerKind, nodeSetKind, clusterKind]) {
      await client.create(customResourceDefinitions, customResourceDefinition(kind) as never);
    }
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    for (let i = 0; i < machines; i += 1) await stage.addMachine(`machine-${i}`);
    await stage.until('the kind Controller is served', async () => {
      try {
        await client.list(controllers, { namespace });
        return true;
      } catch {
        return false;
      }
    });
    const spec = {
      slurmKeyRef: { name: 'key', key: 'slurm.key' },
      jwtKeyRef: { name: 'jwt', key: 'jwt.key' },
    };
    const controller = {
      apiVersion: 'slinky.slurm.net/v1beta1',
      kind: 'Controller',
      metadata: { name: 'main', namespace },
      spec,
    };
    await client.create(controllers, controller as unknown as Draft<Controller>);
    stage.#kubeletDone = runFakeKubelet(
      {
        client,
        namespace,
        started: (pod) => stage.slurm.register(pod.spec?.hostname ?? '', pod.metadata.uid ?? ''),
      },
      stage.#kubelet.signal,
    );
    return stage;
  }

  async addMachine(name: string): Promise<void> {
    await this.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    // A new Node is tainted until a lifecycle controller sees it Ready; here that is us.
    await this.client.mergePatch(nodes, { name }, { spec: { taints: null } });
    const conditions = [
      {
        type: 'Ready',
        status: 'True',
        lastTransitionTime: timestamp(Date.now() - 3_600_000),
        lastHeartbeatTime: timestamp(Date.now()),
      },
    ];
    await this.client.mergePatch(nodes, { name }, { status: { conditions } }, { subresource: 'status' });
  }

  async createNodeSet(name: string, spec: object): Promise<void> {
    const object = {
      apiVersion: 'slinky.slurm.net/v1beta1',
      kind: 'NodeSet',
      metadata: { name, namespace },
      spec: { controllerRef: { name: 'main' }, ...spec },
    };
    await this.client.create(nodeSets, object as unknown as Draft<NodeSet>);
  }

  async patchNodeSet(name: string, spec: object): Promise<void> {
    await this.client.mergePatch(nodeSets, { namespace, name }, { spec });
  }

  async nodeSet(name: string): Promise<NodeSet | undefined> {
    return (await this.client.find(nodeSets, { namespace, name })) as NodeSet | undefined;
  }

  async pods(): Promise<Pod[]> {
    const { items } = await this.client.list(pods, { namespace });
    return (items as unknown as Pod[]).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  async startOperator(): Promise<void> {
    const config = await kubeconfigConfig({
      text: await this.server.kubeconfigFor({ name: 'operator', groups: ['system:masters'] }),
    });
    const manager = await createManager({ name: 'slurm-operator', config, client: { rateLimit: false } });
    const slurmChanges = new ChannelSource();
    this.#changes.push(slurmChanges);
    setupNodeSets(manager, () => this.slurm, {
      workers: 2,
      slurmChanges,
      clusterDomain: 'cluster.local',
      defaultImage: 'slurm-operator/slurmd:26.05',
      propagatedConditions: new Set(),
      parallel: 8,
    });
    const stop = new AbortController();
    this.#operator = { stop, done: manager.start(stop.signal) };
  }

  async stopOperator(): Promise<void> {
    this.#operator?.stop.abort();
    await this.#operator?.done;
    this.#operator = undefined;
    this.#changes.length = 0;
  }

  /** Waits for a condition; fails with its name after the deadline. */
  async until(what: string, holds: () => boolean | Promise<boolean>, timeout = 20_000): Promise<void> {
    const deadline = Date.now() + timeout;
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error(`waited ${timeout} ms in vain until ${what}`);
      await sleep(20, this.#kubelet.signal);
    }
  }

  async untilReady(name: string, replicas: number): Promise<void> {
    await this.until(`NodeSet ${name} is ready with ${replicas} workers`, async () => {
      const set = await this.nodeSet(name);
      const ready = set?.status?.conditions?.some(
        (condition) =>
          condition.type === 'Ready' &&
          condition.status === 'True' &&
          condition.observedGeneration === set.metadata.generation,
      );
      return ready === true && set?.status?.readyReplicas === replicas && set.status.replicas === replicas;
    });
  }

  /** Writes of the operator so far, by verb and resource. */
  writes(): string[] {
    return this.server.audit
      .find({ user: 'operator' })
      .filter((entry) => !['get', 'list', 'watch'].includes(entry.verb))
      .map((entry) => `${entry.verb} ${entry.resource}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    this.#kubelet.abort();
    await this.#kubeletDone;
    this.client.close();
    await this.server.stop();
  }
}
