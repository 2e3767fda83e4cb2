/** A cluster of this machine with our operator and a Slurm on it, and handles to change and to hurt it. Needs root. */
import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  type Controller,
  customResourceDefinition,
  kinds,
  type NodeSet,
  type RestApi,
} from '@slurm-operator/api';
import { buildImage, type SlurmVersion } from '@slurm-operator/images';
import {
  type Client,
  configMaps,
  createClient,
  customResourceDefinitions,
  type Draft,
  type KubeObject,
  NotFoundError,
  namespaces,
  type Pod,
  pods,
  type Resource,
  secrets,
  services,
  sleep,
} from '@slurm-operator/kube';
import { type LocalCluster, startLocalCluster } from '@slurm-operator/localcluster';
import { controllers, nodeSets, restApis } from '@slurm-operator/operator';
import { SlurmClient, signedToken } from '@slurm-operator/slurm';
import { OperatorProcess } from './operator-process.ts';
import { assertNothingRefused, grantOperator } from './operator-rights.ts';
import { wantedSlurm } from './wanted-slurm.ts';

export const namespace = 'slurm';

/** For containers that share one small machine: no cgroups, sizes as claimed, and a scheduler that does not dawdle. */
const extraConf = [
  'SlurmdParameters=config_overrides',
  'ProctrackType=proctrack/linuxproc',
  'JobAcctGatherType=jobacct_gather/none',
  'SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1',
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
  readonly #version: SlurmVersion;
  /** What tokens are signed with. */
  readonly jwtKey: Buffer;
  #slurm: SlurmClient | undefined;

  private constructor(parts: {
    cluster: LocalCluster;
    client: Client;
    operator: OperatorProcess;
    directory: string;
    version: SlurmVersion;
    jwtKey: Buffer;
  }) {
    this.cluster = parts.cluster;
    this.client = parts.client;
    this.operator = parts.operator;
    this.directory = parts.directory;
    this.#version = parts.version;
    this.jwtKey = parts.jwtKey;
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
    const directory = await mkdtemp(join(tmpdir(), 'slurm-operator-stage-'));
    const cluster = await startLocalCluster({
      name,
      nodes,
      directory: join(directory, 'cluster'),
      images,
      ...(nodeGraceMs === undefined ? {} : { nodeGraceMs }),
      progress,
    });
    const client = createClient(cluster.config, {
      rateLimit: false,
      fieldManager: 'stage',
      userAgent: 'stage',
    });
    const kubeconfig = join(directory, 'operator.kubeconfig');
    await writeFile(kubeconfig, await grantOperator(cluster.server, client), { mode: 0o600 });
    const operator = new OperatorProcess({ kubeconfig, log: join(directory, 'operator.log') });
    const jwtKey = randomBytes(32);
    const stage = new SlurmStage({ cluster, client, operator, directory, version, jwtKey });
    await stage.#prepare();
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
    await this.until('the kinds are served', async () => {
      try {
        await this.client.list(nodeSets, { namespace });
        return true;
      } catch (error) {
        if (error instanceof NotFoundError) return false;
        throw error;
      }
    });
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
    const status = set?.status;
    const ready = status?.conditions?.some(
      (condition) => condition.type === 'Ready' && condition.status === 'True',
    );
    return (
      ready === true &&
      status?.observedGeneration === set?.metadata.generation &&
      status?.readyReplicas === replicas &&
      status?.updatedReplicas === replicas &&
      status?.replicas === replicas
    );
  }

  async untilReady(name: string, replicas: number, timeout = 300_000): Promise<void> {
    await this.until(
      `NodeSet ${name} is ready with ${replicas} workers`,
      () => this.isReady(name, replicas),
      timeout,
      async () => JSON.stringify((await this.nodeSet(name))?.status?.conditions),
    );
  }

  /** Waits for a condition; fails with its name, and what was seen instead, at the deadline. */
  async until(
    what: string,
    holds: () => boolean | Promise<boolean>,
    timeout = 180_000,
    seen?: () => Promise<string>,
    every = 200,
  ): Promise<void> {
    const deadline = Date.now() + timeout;
    while (!(await holds())) {
      if (Date.now() > deadline)
        throw new Error(
          `waited ${timeout / 1000} s in vain until ${what}${seen === undefined ? '' : `; seen: ${await seen()}`}`,
        );
      await sleep(every, AbortSignal.timeout(5_000));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operator.stop();
    this.#slurm?.close();
    this.client.close();
    const keep = process.env['KEEP_STAGE'] !== undefined;
    // The cluster takes the logs of its containers with it.
    if (keep) await keepLogs(this.directory);
    await this.cluster.stop();
    assertNothingRefused(this.cluster.server);
    if (!keep) await rm(this.directory, { recursive: true, force: true });
  }
}

async function keepLogs(directory: string): Promise<void> {
  for (const logs of globSync('cluster/nodes/*/logs', { cwd: directory })) {
    const node = basename(dirname(logs));
    await cp(join(directory, logs), join(directory, 'logs', node), { recursive: true });
  }
}
