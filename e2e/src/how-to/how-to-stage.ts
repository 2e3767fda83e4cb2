/** A cluster with the operator from the plain YAML, and what a person has who follows a page: kubectl, ssh. Needs root, or a given cluster. */
import { fileURLToPath } from 'node:url';
import { installedImages, Kubectl, LoginKey } from '@slurm-operator/demo/install';
import { buildImage } from '@slurm-operator/images';
import {
  type Client,
  type Condition,
  type KubeObject,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  secrets,
  services,
} from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { installMariadb, isGiven, loadsImages } from '../given/given-cluster.ts';
import { createNamespace } from '../given/ground.ts';
import { ServiceTunnel } from '../given/service-tunnel.ts';
import { StagedCluster } from '../staged-cluster.ts';
import { untilCondition, untilReady } from '../until.ts';

export const namespace = 'slurm';

export class HowToStage implements AsyncDisposable {
  readonly client: Client;
  readonly key: LoginKey;
  readonly #kubectl: Kubectl;
  readonly #undo: AsyncDisposableStack;

  private constructor(staged: StagedCluster, kubectl: Kubectl, key: LoginKey, undo: AsyncDisposableStack) {
    this.client = staged.client;
    this.#kubectl = kubectl;
    this.key = key;
    this.#undo = undo;
  }

  static async open(name: string): Promise<HowToStage> {
    await using undo = new AsyncDisposableStack();
    const key = undo.use(await LoginKey.make());
    const staged = undo.use(
      await StagedCluster.start({
        name,
        nodes: 4,
        images: loadsImages ? [...(await installedImages('26.05')), (await buildImage('ldap')).path] : [],
        // Their presence is not checked: the page about them is tested with it.
        capacity: { 'nvidia.com/gpu': '8' },
      }),
    );
    const kubectl = await Kubectl.open(staged.kubeconfig);
    await installOperator(kubectl, staged.client);
    return new HowToStage(staged, kubectl, key, undo.move());
  }

  /** kubectl in the namespace of the cluster; answers what it says. */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.#kubectl.say('--namespace', namespace, ...args);
  }

  /** Lines of a page, as a user pastes them. */
  async paste(lines: string): Promise<void> {
    await this.#kubectl.shell(`kubectl config set-context --current --namespace ${namespace} >&2\n${lines}`);
  }

  async apply(manifest: string, where = namespace): Promise<void> {
    await this.#kubectl.run(['--namespace', where, 'apply', '-f', '-'], { input: manifest });
  }

  async namespace(name: string): Promise<void> {
    await createNamespace(this.client, name);
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

  ready<T extends KubeObject>(resource: Resource<T>, name: string, where = namespace): Promise<Condition> {
    return untilReady(this.client, resource, { namespace: where, name });
  }

  /** Waits until the condition has that reason. */
  told<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    type: string,
    reason: string,
  ): Promise<Condition> {
    return untilCondition(this.client, resource, { namespace, name }, { type, reason });
  }

  /** The pods of a daemon that are not being deleted: name → uid. */
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

  /** Where ssh reaches a pod or a Service: at its address, or on a given cluster through the API server. */
  async sshTo(kind: 'pod' | 'service', name: string): Promise<{ host: string; port: number }> {
    if (isGiven) {
      const tunnel = await ServiceTunnel.open(this.#kubectl, namespace, `${kind}/${name}`, 22);
      this.#undo.use(tunnel);
      return { host: '127.0.0.1', port: tunnel.port };
    }
    const ref = { namespace, name };
    const host =
      kind === 'pod'
        ? (await this.client.get(pods, ref)).status?.podIP
        : (await this.client.get(services, ref)).spec?.clusterIP;
    return { host: host ?? '', port: 22 };
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.#undo.disposeAsync();
  }
}

/** As the page says, without helm; and what Slurm needs where containers have no control groups. */
async function installOperator(kubectl: Kubectl, client: Client): Promise<void> {
  const file = fileURLToPath(new URL('../../../deploy/slurm-operator.yaml', import.meta.url));
  await kubectl.run(['apply', '--server-side', '-f', file]);
  await createNamespace(client, namespace);
  const small = ['configmap', 'small', '--from-literal=cgroup.conf=CgroupPlugin=disabled'];
  await kubectl.run(['--namespace', namespace, 'create', ...small]);
  for (const name of ['slurm-operator', 'slurm-operator-webhook'])
    await kubectl.run(['-n', 'slinky', 'rollout', 'status', `deploy/${name}`, '--timeout=5m'], {
      timeoutMs: 330_000,
    });
}
