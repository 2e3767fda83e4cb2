/** A cluster with our operator and a Slurm on it, and handles to change and to hurt it: of this machine (needs root), or a given one. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Accounting,
  type Controller,
  conditionType,
  customResourceDefinition,
  kinds,
  type LoginSet,
  type NodeSet,
  type RestApi,
  type Token,
} from '@slurm-operator/api';
import { Helm } from '@slurm-operator/charts';
import { Kubectl, operatorNamespace, smallMachineLines } from '@slurm-operator/demo/install';
import { currentCondition } from '@slurm-operator/demo/waiting';
import { buildImage, buildOperatorImage, imageTag, type SlurmVersion } from '@slurm-operator/images';
import {
  type Client,
  configMaps,
  customResourceDefinitions,
  draftOf,
  type KubeObject,
  leases,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  secrets,
  services,
} from '@slurm-operator/kube';
import type { UntilOptions } from '@slurm-operator/kube/testing';
import type { LocalCluster } from '@slurm-operator/localcluster';
import { controllers, nodeSets, restApis } from '@slurm-operator/operator';
import { SlurmClient, signedToken } from '@slurm-operator/slurm';
import { inGivenRegistry, isGiven, loadsImages } from './given/given-cluster.ts';
import { createNamespace } from './given/ground.ts';
import { InstalledOperator } from './given/installed-operator.ts';
import { ServiceTunnel } from './given/service-tunnel.ts';
import { OperatorProcess } from './operator-process.ts';
import { grantOperator, operatorUser } from './operator-rights.ts';
import { StagedCluster } from './staged-cluster.ts';
import { until } from './until.ts';
import { wantedSlurm } from './wanted-slurm.ts';

export const namespace = 'slurm';

/** Lines of slurm.conf that a stage has unless it is given others. */
export const stageConf = [
  ...smallMachineLines,
  'JobAcctGatherType=jobacct_gather/none',
  'SlurmdTimeout=60',
  'PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE',
].join('\n');

export interface StageOptions {
  readonly name: string;
  readonly nodes: number;
  readonly version?: SlurmVersion;
  /** The silence after which a node counts as lost. @default as in a real cluster */
  readonly nodeGraceMs?: number;
  /** The manager of another copy of the sources, to see what a fault in it does. */
  readonly program?: string | undefined;
  readonly progress?: (line: string) => void;
  /** Gives up while the stage is being set up. */
  readonly signal?: AbortSignal;
}

export class SlurmStage implements AsyncDisposable {
  readonly client: Client;
  readonly directory: string;
  readonly version: SlurmVersion;
  readonly staged: StagedCluster;
  readonly #operator: OperatorProcess | InstalledOperator;
  readonly #undo = new AsyncDisposableStack();
  #jwtKey = randomBytes(32);
  #slurm: SlurmClient | undefined;
  #token = signedToken({ key: this.#jwtKey, user: 'slurm' });

  private constructor(
    staged: StagedCluster,
    operator: OperatorProcess | InstalledOperator,
    version: SlurmVersion,
  ) {
    this.client = staged.client;
    this.directory = staged.directory;
    this.#operator = operator;
    this.staged = staged;
    this.version = version;
  }

  static async open({
    name,
    nodes,
    version = wantedSlurm(),
    nodeGraceMs,
    program,
    progress = () => {},
    signal,
  }: StageOptions): Promise<SlurmStage> {
    progress(`images of Slurm ${version}`);
    const images: string[] = [];
    if (loadsImages) {
      for (const image of ['slurmctld', 'slurmrestd', 'slurmd'] as const)
        images.push((await buildImage(image, version, signal === undefined ? {} : { signal })).path);
      if (isGiven) images.push((await buildOperatorImage()).path);
    }
    signal?.throwIfAborted();
    await using undo = new AsyncDisposableStack();
    const staged = undo.use(
      await StagedCluster.start({
        name,
        nodes,
        images,
        ...(nodeGraceMs === undefined ? {} : { nodeGraceMs }),
        progress,
      }),
    );
    const operator = await (isGiven ? installed(staged) : asProcess(staged, program));
    const stage = new SlurmStage(staged, operator, version);
    await stage.#prepare();
    undo.move();
    return stage;
  }

  async #prepare(): Promise<void> {
    // On a given cluster the chart has brought them.
    if (!isGiven)
      for (const kind of kinds)
        await this.client.create(
          customResourceDefinitions,
          draftOf(customResourceDefinitions, customResourceDefinition(kind)),
        );
    await createNamespace(this.client, namespace);
    const data = {
      'slurm.key': randomBytes(768).toString('base64'),
      'jwt.key': this.jwtKey.toString('base64'),
    };
    await this.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace },
      data,
    });
    await this.client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cgroup', namespace },
      data: { 'cgroup.conf': 'CgroupPlugin=disabled\n' },
    });
    await until('the kinds are served', () => this.client.list(nodeSets, { namespace }));
  }

  /** The localcluster of this stage; tests that need it are not run on a given cluster. */
  get cluster(): LocalCluster {
    return this.staged.cluster;
  }

  /** The operator as a process of this machine; on a given cluster it is what its chart installs. */
  get operator(): OperatorProcess {
    if (this.#operator instanceof OperatorProcess) return this.#operator;
    throw new Error('the operator is no process of this machine');
  }

  async startOperator(): Promise<void> {
    await this.#operator.start();
  }

  /** Kills the operator and starts it again; resolves when the new one is running. */
  async replaceOperator(): Promise<void> {
    const isRunning = await this.#operatorWatch();
    await this.#operator.kill();
    await this.#operator.start();
    await until('the new operator is running', isRunning);
  }

  /** Whether another operator than now has acted: by what it asked for, or where that is not shown by who leads. */
  async #operatorWatch(): Promise<() => Promise<boolean>> {
    if (this.#operator instanceof OperatorProcess) {
      const requests = () => this.cluster.server.audit.count({ user: operatorUser });
      const before = requests();
      return async () => requests() > before + 10;
    }
    const leader = async () => {
      const { items } = await this.client.list(leases, { namespace: operatorNamespace });
      return items.map(({ spec }) => spec?.holderIdentity ?? '').join();
    };
    const before = await leader();
    return async () => (await leader()) !== before;
  }

  /** slurmctld and slurmrestd, and the operator that runs them. */
  async startSlurm(spec: object = {}): Promise<void> {
    await this.startOperator();
    const keys = {
      slurmKeyRef: { name: 'keys', key: 'slurm.key' },
      jwtKeyRef: { name: 'keys', key: 'jwt.key' },
    };
    const image = (name: 'slurmctld' | 'slurmrestd') => ({
      image: inGivenRegistry(imageTag(name, this.version)),
    });
    const controller = {
      ...keys,
      slurmctld: image('slurmctld'),
      persistence: {
        enabled: true,
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
      extraConf: stageConf,
      configFileRefs: [{ name: 'cgroup' }],
      ...spec,
    };
    await this.create(controllers, 'Controller', 'main', controller);
    await this.create(restApis, 'RestApi', 'main', {
      controllerRef: { name: 'main' },
      slurmrestd: image('slurmrestd'),
    });
  }

  /** State of slurmctld on a volume that two of them can mount: a standby may come and go. */
  async sharedState(): Promise<object> {
    const spec = {
      accessModes: ['ReadWriteMany' as const],
      resources: { requests: { storage: '1Gi' } },
    };
    await this.client.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'state', namespace },
      spec,
    });
    return { persistence: { enabled: true, existingClaim: 'state' } };
  }

  /** Since 25.11 a standby does not answer /readyz; before, nothing tells Kubernetes which of two slurmctld is active. */
  get tellsWhoIsActive(): boolean {
    return this.version !== '24.11';
  }

  async createNodeSet(name: string, spec: object): Promise<void> {
    const slurmd = { image: inGivenRegistry(imageTag('slurmd', this.version)) };
    await this.create(nodeSets, 'NodeSet', name, { controllerRef: { name: 'main' }, slurmd, ...spec });
  }

  async create<T extends Accounting | Controller | LoginSet | RestApi | NodeSet | Token>(
    resource: Resource<T & KubeObject>,
    kind: string,
    name: string,
    spec: object,
  ): Promise<void> {
    const object = { apiVersion: 'slinky.slurm.net/v1beta1', kind, metadata: { name, namespace }, spec };
    await this.client.create(resource, draftOf(resource, object));
  }

  async patchNodeSet(name: string, spec: object): Promise<void> {
    await this.client.mergePatch(nodeSets, { namespace, name }, { spec });
  }

  async nodeSet(name: string): Promise<NodeSet | undefined> {
    return (await this.client.find(nodeSets, { namespace, name })) as NodeSet | undefined;
  }

  async workers(): Promise<Pod[]> {
    const { items } = await this.client.list(pods, {
      namespace,
      labelSelector: 'app.kubernetes.io/name=slurmd',
    });
    return items as unknown as Pod[]; // read-only in type only: the list is the caller's
  }

  /** A client of the Slurm inside, through its Service. */
  async slurm(): Promise<SlurmClient> {
    this.#slurm ??= this.#connect(await this.reach('main-restapi', 6820));
    return this.#slurm;
  }

  #connect(server: string): SlurmClient {
    return new SlurmClient({
      server,
      token: { token: () => this.#token.token() },
      // Daemons are killed and paused here: detect soon that they are back.
      circuit: { pauseMs: 200, maxPauseMs: 1_000 },
    });
  }

  /** After the Service of slurmrestd was made again: it has another address. */
  async reconnect(): Promise<void> {
    const server = await this.reach('main-restapi', 6820);
    this.#slurm?.close();
    this.#slurm = this.#connect(server);
  }

  /** What tokens are signed with. */
  get jwtKey(): Buffer {
    return this.#jwtKey;
  }

  /** Writes another key into the Secret; the client of this stage signs with it from now on. */
  async rotateJwtKey(): Promise<void> {
    this.#jwtKey = randomBytes(32);
    const data = { 'jwt.key': this.#jwtKey.toString('base64') };
    await this.client.mergePatch(secrets, { namespace, name: 'keys' }, { data });
    this.#token = signedToken({ key: this.#jwtKey, user: 'slurm' });
  }

  /** The address of a Service for a program of this machine. */
  async reach(service: string, port: number): Promise<string> {
    if (isGiven) {
      const kubectl = await Kubectl.open(this.staged.kubeconfig);
      const tunnel = await ServiceTunnel.open(kubectl, namespace, `service/${service}`, port);
      this.#undo.use(tunnel);
      return `http://127.0.0.1:${tunnel.port}`;
    }
    const { spec } = await this.client.get(services, { namespace, name: service });
    return `http://${spec?.clusterIP ?? ''}:${port}`;
  }

  /** Ready, with so many workers, all of the newest revision. */
  async isReady(name: string, replicas: number): Promise<boolean> {
    const set = await this.nodeSet(name);
    const counts = [set?.status?.replicas, set?.status?.readyReplicas, set?.status?.updatedReplicas];
    return (
      set !== undefined &&
      currentCondition(set, conditionType.ready)?.status === 'True' &&
      counts.every((count) => count === replicas)
    );
  }

  async untilReady(name: string, replicas: number, patience: UntilOptions = {}): Promise<void> {
    await until(`NodeSet ${name} is ready with ${replicas} workers`, () => this.isReady(name, replicas), {
      ...patience,
      seen: () => this.conditionsOf(name),
    });
  }

  /** The status of a NodeSet on one line, for the message of a timeout. */
  async conditionsOf(name: string): Promise<string> {
    return JSON.stringify((await this.nodeSet(name))?.status?.conditions);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A given cluster is cleared while its operator runs, so that it lets go of its objects.
    if (this.#operator instanceof OperatorProcess) await this.#operator.stop();
    this.#slurm?.close();
    await this.#undo.disposeAsync();
    await this.staged[Symbol.asyncDispose]();
    this.staged.assertNothingRefused();
  }
}

async function asProcess(
  { client, cluster, directory }: StagedCluster,
  program: string | undefined,
): Promise<OperatorProcess> {
  const kubeconfig = join(directory, 'operator.kubeconfig');
  await writeFile(kubeconfig, await grantOperator(cluster.server, client), { mode: 0o600 });
  return new OperatorProcess({ kubeconfig, log: join(directory, 'operator.log'), program });
}

async function installed({ client, kubeconfig }: StagedCluster): Promise<InstalledOperator> {
  await using helm = await Helm.open({ kubeconfig });
  return await InstalledOperator.install(client, helm);
}
