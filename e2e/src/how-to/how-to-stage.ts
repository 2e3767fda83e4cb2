/** A cluster of this machine with the operator from the plain YAML, and what a person has who follows a page: kubectl, ssh. Needs root. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { conditionType } from '@slurm-operator/api';
import { buildImage, buildOperatorImage } from '@slurm-operator/images';
import {
  type Client,
  createClient,
  findCondition,
  type KubeObject,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  secrets,
  services,
  sleep,
} from '@slurm-operator/kube';
import { type LocalCluster, startLocalCluster } from '@slurm-operator/localcluster';
import { nodeSets } from '@slurm-operator/operator';
import { installMariadb } from '../helm/install.ts';
import { Kubectl } from '../helm/kubectl.ts';
import { LoginKey } from '../helm/login-session.ts';

export const namespace = 'slurm';

/** For whatever must come: a deadline that is met costs nothing. */
const patience = 300_000;

export class HowToStage implements AsyncDisposable {
  readonly client: Client;
  readonly key: LoginKey;
  readonly #cluster: LocalCluster;
  readonly #kubectl: Kubectl;
  readonly #directory: string;

  private constructor(parts: {
    cluster: LocalCluster;
    client: Client;
    kubectl: Kubectl;
    key: LoginKey;
    directory: string;
  }) {
    this.#cluster = parts.cluster;
    this.client = parts.client;
    this.#kubectl = parts.kubectl;
    this.key = parts.key;
    this.#directory = parts.directory;
  }

  static async open(name: string): Promise<HowToStage> {
    const images = [
      ...(await Promise.all(
        (['slurmctld', 'slurmrestd', 'slurmd', 'slurmdbd', 'login'] as const).map((image) =>
          buildImage(image, '26.05'),
        ),
      )),
      await buildImage('mariadb'),
      await buildImage('ldap'),
      await buildOperatorImage(),
    ].map(({ path }) => path);
    const directory = await mkdtemp(join(tmpdir(), 'slurm-operator-how-to-'));
    const key = await LoginKey.make();
    const cluster = await startLocalCluster({
      name,
      nodes: 4,
      directory: join(directory, 'cluster'),
      images,
      // Nobody looks whether they are there: that is what the page about them is tried with.
      capacity: { 'nvidia.com/gpu': '8' },
    });
    const client = createClient(cluster.config, { userAgent: 'stage', rateLimit: false });
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
    const stage = new HowToStage({
      cluster,
      client,
      kubectl: await Kubectl.open(kubeconfig),
      key,
      directory,
    });
    try {
      await stage.#install();
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
    return stage;
  }

  async #install(): Promise<void> {
    const file = fileURLToPath(new URL('../../../deploy/slurm-operator.yaml', import.meta.url));
    await this.#kubectl.run(['apply', '--server-side', '-f', file]);
    await this.#kubectl.run(['create', 'namespace', namespace]);
    await this.kubectl('create', 'configmap', 'small', '--from-literal=cgroup.conf=CgroupPlugin=disabled');
    for (const name of ['slurm-operator', 'slurm-operator-webhook'])
      await this.#kubectl.run(['-n', 'slinky', 'rollout', 'status', `deploy/${name}`, '--timeout=5m'], {
        timeoutMs: 330_000,
      });
  }

  /** kubectl in the namespace of the cluster; answers what it says. */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.#kubectl.say('--namespace', namespace, ...args);
  }

  /** Lines of a page, as somebody pastes them. */
  async paste(lines: string): Promise<void> {
    await this.#kubectl.shell(`kubectl config set-context --current --namespace ${namespace} >&2\n${lines}`);
  }

  async apply(manifest: string, where = namespace): Promise<void> {
    await this.#kubectl.run(['--namespace', where, 'apply', '-f', '-'], { input: manifest });
  }

  async namespace(name: string): Promise<void> {
    await this.#kubectl.run(['create', 'namespace', name]);
  }

  /** The Secret of the same name and content in another namespace. */
  async copySecret(name: string, where: string): Promise<void> {
    const { data } = await this.client.get(secrets, { namespace, name });
    const metadata = { name, namespace: where };
    await this.client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { ...data } });
  }

  async mariadb(password: string): Promise<void> {
    await installMariadb(this.#kubectl, namespace, password);
  }

  /** Comes back when it is gone. */
  async remove(kind: string, name: string): Promise<void> {
    await this.#kubectl.run(['--namespace', namespace, 'delete', kind, name, '--wait=true', '--timeout=5m'], {
      timeoutMs: 330_000,
    });
  }

  slurmctld(...command: readonly string[]): Promise<string> {
    return this.kubectl('exec', 'slurm-controller-0', '--container=slurmctld', '--', ...command);
  }

  inWorker(pod: string, script: string): Promise<string> {
    return this.kubectl('exec', pod, '--container=slurmd', '--', 'sh', '-c', script);
  }

  async condition<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    type: string,
    where = namespace,
  ) {
    const object = await this.client.get(resource, { namespace: where, name });
    const { status } = object as unknown as {
      status?: { observedGeneration?: number; conditions?: never[] };
    };
    const current = status?.observedGeneration === object.metadata.generation;
    return current ? findCondition(status?.conditions, type) : undefined;
  }

  async ready<T extends KubeObject>(resource: Resource<T>, name: string, where = namespace): Promise<void> {
    await this.until(`${resource.kind} ${name} to be Ready`, async () => {
      const found = await this.condition(resource, name, conditionType.ready, where);
      if (found?.status === 'True') return true;
      throw new Error(found?.message ?? 'it says nothing yet');
    });
  }

  /** Waits until the condition has that reason. */
  async told<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    type: string,
    reason: string,
  ): Promise<void> {
    await this.until(`${type} of ${resource.kind} ${name} to say ${reason}`, async () => {
      const found = await this.condition(resource, name, type);
      if (found?.reason === reason) return true;
      throw new Error(`it says ${found?.reason ?? 'nothing'}: ${found?.message ?? ''}`);
    });
  }

  /** What `look` finds, once it finds something and does not throw; at the deadline its last words. */
  async until<T>(what: string, look: () => Promise<T | false>): Promise<T> {
    let found: T | false = false;
    let last: unknown;
    const deadline = performance.now() + patience;
    while (found === false) {
      if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`, { cause: last });
      try {
        found = await look();
      } catch (error) {
        last = error;
      }
      if (found === false) await sleep(200, AbortSignal.timeout(60_000));
    }
    return found;
  }

  /** The pods of a daemon that are not on their way out: name → identity. */
  async pods(app: string, instance?: string): Promise<ReadonlyMap<string, string>> {
    const labels = [`app.kubernetes.io/name=${app}`];
    if (instance !== undefined) labels.push(`app.kubernetes.io/instance=${instance}`);
    const { items } = await this.client.list(pods, { namespace, labelSelector: labels.join(',') });
    return new Map(
      (items as Pod[])
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => [metadata.name, String(metadata.uid)] as const)
        .toSorted(([a], [b]) => a.localeCompare(b)),
    );
  }

  /** Where the workers of a NodeSet run. */
  async machines(instance: string): Promise<string[]> {
    const labelSelector = `app.kubernetes.io/name=slurmd,app.kubernetes.io/instance=${instance}`;
    const { items } = await this.client.list(pods, { namespace, labelSelector });
    return (items as Pod[]).flatMap(({ spec }) => spec?.nodeName ?? []);
  }

  async podAddress(name: string): Promise<string> {
    return (await this.client.get(pods, { namespace, name })).status?.podIP ?? '';
  }

  async serviceAddress(name: string): Promise<string> {
    return (await this.client.get(services, { namespace, name })).spec?.clusterIP ?? '';
  }

  async claims(): Promise<string[]> {
    const { items } = await this.client.list(persistentVolumeClaims, { namespace });
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name)
      .toSorted();
  }

  /** Anything that makes a new revision of a NodeSet. */
  async makeRevision(name: string): Promise<void> {
    const template = { metadata: { annotations: { rolled: 'yes' } } };
    await this.client.mergePatch(nodeSets, { namespace, name }, { spec: { template } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.key[Symbol.asyncDispose]();
    await this.#cluster.stop();
    if (process.env['KEEP_STAGE'] === undefined) await rm(this.#directory, { recursive: true, force: true });
  }
}
