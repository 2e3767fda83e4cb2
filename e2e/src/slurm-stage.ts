/** A cluster of this machine with our operator and a Slurm on it, and handles to change and to hurt it. Needs root. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Controller,
  conditionType,
  customResourceDefinition,
  kinds,
  type NodeSet,
  type RestApi,
} from '@slurm-operator/api';
import { buildImage, type SlurmVersion } from '@slurm-operator/images';
import {
  type Client,
  configMaps,
  customResourceDefinitions,
  type Draft,
  type KubeObject,
  namespaces,
  type Pod,
  pods,
  type Resource,
  secrets,
  services,
} from '@slurm-operator/kube';
import type { Patience } from '@slurm-operator/kube/testing';
import type { LocalCluster } from '@slurm-operator/localcluster';
import { controllers, nodeSets, restApis } from '@slurm-operator/operator';
import { SlurmClient, signedToken } from '@slurm-operator/slurm';
import { currentCondition } from './current-condition.ts';
import { OperatorProcess } from './operator-process.ts';
import { assertNothingRefused, grantOperator } from './operator-rights.ts';
import { smallMachineLines } from './small-machine-conf.ts';
import { StagedCluster } from './staged-cluster.ts';
import { until } from './until.ts';
import { wantedSlurm } from './wanted-slurm.ts';

export const namespace = 'slurm';

const extraConf = [
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
  readonly progress?: (line: string) => void;
  /** Gives up while the stage is being set up. */
  readonly signal?: AbortSignal;
}

export class SlurmStage implements AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly client: Client;
  readonly operator: OperatorProcess;
  readonly directory: string;
  /** What tokens are signed with. */
  readonly jwtKey = randomBytes(32);
  readonly #staged: StagedCluster;
  readonly #version: SlurmVersion;
  #slurm: SlurmClient | undefined;

  private constructor(staged: StagedCluster, operator: OperatorProcess, version: SlurmVersion) {
    this.cluster = staged.cluster;
    this.client = staged.client;
    this.directory = staged.directory;
    this.operator = operator;
    this.#staged = staged;
    this.#version = version;
  }

  static async open({
    name,
    nodes,
    version = wantedSlurm(),
    nodeGraceMs,
    progress = () => {},
    signal,
  }: StageOptions): Promise<SlurmStage> {
    progress(`images of Slurm ${version}`);
    const images: string[] = [];
    for (const image of ['slurmctld', 'slurmrestd', 'slurmd'] as const)
      images.push((await buildImage(image, version, signal === undefined ? {} : { signal })).path);
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
    const { client, cluster, directory } = staged;
    const kubeconfig = join(directory, 'operator.kubeconfig');
    await writeFile(kubeconfig, await grantOperator(cluster.server, client), { mode: 0o600 });
    const operator = new OperatorProcess({ kubeconfig, log: join(directory, 'operator.log') });
    const stage = new SlurmStage(staged, operator, version);
    await stage.#prepare();
    undo.move();
    return stage;
  }

  async #prepare(): Promise<void> {
    for (const kind of kinds)
      await this.client.create(customResourceDefinitions, customResourceDefinition(kind) as never);
    await this.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace },
    });
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

  /** slurmctld and slurmrestd, and the operator that runs them. */
  async startSlurm(): Promise<void> {
    this.operator.start();
    const keys = {
      slurmKeyRef: { name: 'keys', key: 'slurm.key' },
      jwtKeyRef: { name: 'keys', key: 'jwt.key' },
    };
    const image = (name: string) => ({ image: `slurm-operator/${name}:${this.#version}` });
    const controller = {
      ...keys,
      slurmctld: image('slurmctld'),
      persistence: {
        enabled: true,
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
      extraConf,
      configFileRefs: [{ name: 'cgroup' }],
    };
    await this.create(controllers, 'Controller', 'main', controller);
    await this.create(restApis, 'RestApi', 'main', {
      controllerRef: { name: 'main' },
      slurmrestd: image('slurmrestd'),
    });
  }

  async createNodeSet(name: string, spec: object): Promise<void> {
    const slurmd = { image: `slurm-operator/slurmd:${this.#version}` };
    await this.create(nodeSets, 'NodeSet', name, { controllerRef: { name: 'main' }, slurmd, ...spec });
  }

  async create<T extends Controller | RestApi | NodeSet>(
    resource: Resource<T & KubeObject>,
    kind: string,
    name: string,
    spec: object,
  ): Promise<void> {
    const object = { apiVersion: 'slinky.slurm.net/v1beta1', kind, metadata: { name, namespace }, spec };
    await this.client.create(resource, object as unknown as Draft<T & KubeObject>);
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
    return items as unknown as Pod[];
  }

  /** A client of the Slurm inside, through its Service. */
  async slurm(): Promise<SlurmClient> {
    if (this.#slurm !== undefined) return this.#slurm;
    const service = await this.client.get(services, { namespace, name: 'main-restapi' });
    this.#slurm = new SlurmClient({
      server: `http://${service.spec?.clusterIP ?? ''}:6820`,
      token: signedToken({ key: this.jwtKey, user: 'slurm' }),
    });
    return this.#slurm;
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

  async untilReady(name: string, replicas: number, patience: Patience = {}): Promise<void> {
    await until(`NodeSet ${name} is ready with ${replicas} workers`, () => this.isReady(name, replicas), {
      ...patience,
      seen: () => this.conditionsOf(name),
    });
  }

  /** What a NodeSet says of itself, in a line, for whoever waited in vain. */
  async conditionsOf(name: string): Promise<string> {
    return JSON.stringify((await this.nodeSet(name))?.status?.conditions);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operator.stop();
    this.#slurm?.close();
    await this.#staged[Symbol.asyncDispose]();
    assertNothingRefused(this.cluster.server);
  }
}
