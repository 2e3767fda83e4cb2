/** A stage for tests of the NodeSet controller: an embedded API server with our CRDs, machines, a fake kubelet, a fake Slurm, and the controller itself. */
import {
  type Controller,
  clusterKind,
  controllerKind,
  customResourceDefinition,
  type NodeSet,
  nodeSetKind,
  resourceName,
} from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  ChannelSource,
  type Client,
  type ClusterConfig,
  configMaps,
  createClient,
  createManager,
  customResourceDefinitions,
  type Draft,
  kubeconfigConfig,
  type Manager,
  namespaces,
  nodes,
  type Pod,
  persistentVolumeClaims,
  pods,
  systemClock,
  timestamp,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { controllers, nodeSets } from '../src/cache/resources.ts';
import { wakeUpAnnotation } from '../src/kinds/nodeset/annotations.ts';
import type { NodeConditionRule } from '../src/kinds/nodeset/model/node-conditions.ts';
import { setupNodeSets } from '../src/kinds/nodeset/setup.ts';
import { managerClusterRules, managerNamespaceRules } from '../src/rbac/rules.ts';
import { powerSavingAnnotation } from '../src/slurm-config/render/config-map.ts';
import { runClaimProtection, runFakeKubelet } from './fake-kubelet.ts';
import { FakeSlurm } from './fake-slurm.ts';
import { Life } from './life.ts';
import { confOf, runInLockstep } from './lockstep.ts';
import { PatientClock, strictlyLater } from './patient-clock.ts';
import { accountName, refusals, restrictedConfig, warnings } from './restricted-config.ts';
import type { StagedSlurm } from './staged-slurm.ts';
import { steady } from './steady.ts';

const namespace = 'slurm';

/** What no two runs share: identity, versions, times, addresses, and what a machine happens to be doing. */
const fleeting = new Set([
  'uid',
  'resourceVersion',
  'managedFields',
  'creationTimestamp',
  'lastTransitionTime',
  'startedAt',
  'startTime',
  'slurmdStartedAt',
  'bootedAt',
  'lastBusyAt',
  'reasonSetAt',
  'instanceId',
  'clusterIP',
  'clusterIPs',
  'address',
  'cpuLoad',
  'freeMemory',
  // Whether Slurm had, or could have had, a node of its name when the pod was created.
  wakeUpAnnotation,
]);

export interface NodeSetStageOptions<S extends StagedSlurm> {
  /** Nothing happens on its own; see `runInLockstep`. @default false */
  readonly lockstep?: boolean;
  /** @default a fake one */
  readonly slurm?: (changed: () => void) => S;
  /** The slurmd of a deleted pod ends before the pod is gone. @default false */
  readonly endsWorkers?: boolean;
  /** Whether a machine is free for a pod. @default always */
  readonly schedules?: (pod: Pod) => boolean;
  /** Of slurmd, where a NodeSet names none. */
  readonly image?: string;
}

export class NodeSetStage<S extends StagedSlurm = FakeSlurm> implements AsyncDisposable {
  readonly server: ApiServer;
  readonly client: Client;
  readonly slurm: S;
  readonly #config: ClusterConfig;
  readonly #changes: ChannelSource[] = [];
  readonly #kubelet = new AbortController();
  #kubeletDone: Promise<void> = Promise.resolve();
  #protection: Promise<void> = Promise.resolve();
  #operator:
    | { stop: AbortController; done: Promise<void>; manager: Manager; clock: PatientClock | undefined }
    | undefined;

  #life = new Life();
  readonly #lockstep: boolean;
  readonly image: string;
  /** Of operators that start from now on. */
  propagatedConditions: readonly NodeConditionRule[] = [];

  private constructor(
    server: ApiServer,
    client: Client,
    config: ClusterConfig,
    { lockstep = false, slurm, image = 'slurm-operator/slurmd:26.05' }: NodeSetStageOptions<S>,
  ) {
    this.#config = config;
    this.image = image;
    this.server = server;
    this.client = client;
    const changed = () => {
      for (const source of this.#changes) source.trigger({ namespace, name: 'main' });
    };
    this.#lockstep = lockstep;
    this.slurm = slurm?.(changed) ?? (new FakeSlurm(changed, { byHand: lockstep }) as StagedSlurm as S);
  }

  static async open<S extends StagedSlurm = FakeSlurm>(
    machines = 3,
    options: NodeSetStageOptions<S> = {},
  ): Promise<NodeSetStage<S>> {
    const server = await startApiServer();
    const client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), {
      rateLimit: false,
      fieldManager: 'test',
      userAgent: 'test',
    });
    const config = await restrictedConfig(server, client, 'slurm-operator', {
      cluster: [...managerClusterRules, ...managerNamespaceRules],
    });
    const stage = new NodeSetStage<S>(server, client, config, options);
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
    // Instead of the reconciler of Controllers: its slurm.conf lets slurmctld wake nodes.
    const annotations = { [powerSavingAnnotation]: 'true' };
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: resourceName.config('main'), namespace, annotations },
    });
    if (options.lockstep === true) return stage;
    stage.#protection = runClaimProtection(client, namespace, stage.#kubelet.signal);
    stage.#kubeletDone = runFakeKubelet(
      {
        client,
        namespace,
        started: (pod) =>
          stage.slurm.workerStarts({
            name: pod.spec?.hostname ?? '',
            instanceId: pod.metadata.uid ?? '',
            conf: confOf(pod),
          }),
        ...(options.schedules === undefined ? {} : { schedules: options.schedules }),
        ...(options.endsWorkers === true
          ? { ended: (pod: Pod) => stage.slurm.workerEnds(pod.spec?.hostname ?? '') }
          : {}),
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

  async claims(): Promise<string[]> {
    return (await this.client.list(persistentVolumeClaims, { namespace })).items.map(
      (claim) => claim.metadata.name,
    );
  }

  /** With `writes` the operator crashes when it has made so many writes, to Kubernetes or to Slurm: every later one fails. */
  async startOperator(life: Life = new Life()): Promise<void> {
    const clock = this.#lockstep ? new PatientClock() : { ...systemClock, now: strictlyLater };
    const manager = await createManager({
      name: 'slurm-operator',
      config: this.#config,
      clock,
      client: { rateLimit: false },
      gracePeriod: 200,
    });
    const slurmChanges = new ChannelSource();
    this.#changes.push(slurmChanges);
    setupNodeSets(life.manager(manager), () => life.gateway(this.slurm), {
      workers: 1,
      slurmChanges,
      clusterDomain: 'cluster.local',
      defaultImage: this.image,
      propagatedConditions: this.propagatedConditions,
      nodeEvents: true,
      parallel: 1,
    });
    const stop = new AbortController();
    this.#life = life;
    this.slurm.forgetView();
    const patient = clock instanceof PatientClock ? clock : undefined;
    this.#operator = { stop, done: manager.start(stop.signal), manager, clock: patient };
  }

  /** Until nothing is left to do, or the operator has crashed. */
  async runInLockstep(): Promise<'rest' | 'dead'> {
    const { manager, clock } = this.#operator ?? {};
    if (manager === undefined || clock === undefined) throw new Error('no operator runs in lockstep');
    await manager.cache.waitForSync();
    const world = { client: this.client, slurm: this.slurm, namespace };
    return runInLockstep({ ...world, clock }, manager, () => this.#life.over);
  }

  async stopOperator(): Promise<void> {
    this.#operator?.clock?.release();
    this.#operator?.stop.abort();
    await this.#operator?.done;
    this.#operator = undefined;
    this.#changes.length = 0;
  }

  /** Waits for a condition; the error of a timeout shows what exists instead. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    await until(what, holds, { everyMs: 20, seen: () => this.#seen(), signal: this.#kubelet.signal });
  }

  /** What exists, in a line, for the error of a timeout. */
  async #seen(): Promise<string> {
    const workers = (await this.pods()).map((pod) => ({
      name: pod.metadata.name,
      phase: pod.status?.phase,
      deleted: pod.metadata.deletionTimestamp,
      notes: pod.metadata.annotations,
      states: pod.status?.conditions?.map((condition) => condition.type),
    }));
    const slurm = (await this.slurm.truth()).map(
      (node) =>
        `${node.name} ${[node.state.base, ...node.state.flags].join('+')} ${node.reason} ${node.instanceId}`,
    );
    const sets = (await this.client.list(nodeSets, { namespace })).items.map((set) =>
      set.status?.conditions?.map(
        (condition) => `${condition.type} ${condition.reason} ${condition.message}`,
      ),
    );
    return JSON.stringify({
      workers,
      slurm,
      sets,
      asked: this.slurm instanceof FakeSlurm ? this.slurm.asked.slice(-10) : [],
    });
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

  /** Ready, and the operator has nothing left to do: its last look wrote nothing. */
  async untilQuiet(name: string, replicas: number): Promise<void> {
    await this.untilReady(name, replicas);
    await this.until(`NodeSet ${name} is at rest`, async () => {
      const set = await this.nodeSet(name);
      const idle = set?.status?.conditions?.some(
        (condition) => condition.type === 'Progressing' && condition.reason === 'Idle',
      );
      const updated = set?.status?.updatedReplicas === replicas && (await this.pods()).length === replicas;
      const known = await this.slurm.truth();
      const undrained = known.every((node) => !node.state.flags.has('DRAIN') && node.comment !== '');
      const mirrored = (await this.pods()).every((pod) => {
        const states = (pod.status?.conditions ?? []).filter((condition) =>
          condition.type.startsWith('SlurmNodeState'),
        );
        // Slurm 24.11 keeps the reason of a drain that is over.
        const reason = known.find((node) => node.name === pod.spec?.hostname)?.reason ?? '';
        const [state] = states;
        return (
          states.length === 1 && state?.type === 'SlurmNodeStateIdle' && (state.message ?? '') === reason
        );
      });
      return idle === true && updated && undrained && mirrored && known.length === replicas;
    });
  }

  /** Everything there is, without what differs between any two runs: uids, versions, times, random ends of names. */
  async endState(): Promise<unknown> {
    const list = async (path: string) =>
      (await this.client.json<{ items: Record<string, unknown>[] }>('GET', path)).items;
    const base = `/api/v1/namespaces/${namespace}`;
    const kinds = {
      pods: await list(`${base}/pods`),
      claims: await list(`${base}/persistentvolumeclaims`),
      services: await list(`${base}/services`),
      budgets: await list(`/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`),
      revisions: await list(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions`),
      nodeSets: await list(`/apis/slinky.slurm.net/v1beta1/namespaces/${namespace}/nodesets`),
    };
    const slurm = (await this.slurm.truth()).map(({ state, ...node }) => ({
      ...node,
      state: [state.base, ...state.flags],
    }));
    return steady({ kubernetes: kinds, slurm }, fleeting);
  }

  /** Writes of the operator to Kubernetes so far, by verb and resource. */
  writes(): string[] {
    return this.server.audit
      .find({ user: accountName('slurm-operator') })
      .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
      .map(
        ({ verb, resource, subresource }) =>
          `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`,
      );
  }

  /** Single objects and lists that the operator asked for; its caches begin with watches. */
  reads(): string[] {
    return this.server.audit
      .find({ user: accountName('slurm-operator') })
      .filter((entry) => ['get', 'list'].includes(entry.verb))
      .map((entry) => `${entry.verb} ${entry.resource}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    this.slurm.close();
    this.#kubelet.abort();
    await Promise.all([this.#kubeletDone, this.#protection]);
    this.client.close();
    const refused = refusals(this.server, 'slurm-operator');
    const warned = warnings(this.server, 'slurm-operator');
    await this.server.stop();
    if (refused.length > 0) throw new Error(`the operator was refused: ${refused.join('; ')}`);
    if (warned.length > 0) throw new Error(`the API server warned the operator: ${warned.join('; ')}`);
  }
}
