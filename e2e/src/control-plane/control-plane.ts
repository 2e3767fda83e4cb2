/** The whole control plane on real daemons: six kinds, a database and a directory of people, and handles to look at them. */

import { ldap, mariadb, type Neighbour, neighbour, smallMachineLines } from '@slurm-operator/demo/install';
import { currentCondition } from '@slurm-operator/demo/waiting';
import { buildImage, imageTag, type SlurmVersion } from '@slurm-operator/images';
import { people, sssdConf } from '@slurm-operator/images/testing';
import {
  type AnyResource,
  type Condition,
  configMaps,
  deployments,
  draftOf,
  exec,
  type KubeObject,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  secrets,
  services,
} from '@slurm-operator/kube';
import {
  accountings,
  clusters,
  controllers,
  loginSets,
  nodeSets,
  restApis,
  tokens,
} from '@slurm-operator/operator';
import { inGivenRegistry, loadsImages } from '../given/given-cluster.ts';
import { namespace, SlurmStage, type StageOptions } from '../slurm-stage.ts';
import { untilCondition, untilReady } from '../until.ts';

export interface ControlPlaneOptions extends Omit<StageOptions, 'version'> {
  readonly version: SlurmVersion;
  /** A standby for slurmctld, on a volume that both mount. @default false */
  readonly standby?: boolean;
  /** slurmctld, slurmdbd and the database are on one node, and are lost together. @default false */
  readonly onOneNode?: boolean;
}

const extraConf = [...smallMachineLines, 'TaskPlugin=task/none'];

const keyRefs = {
  slurmKeyRef: { name: 'keys', key: 'slurm.key' },
  jwtKeyRef: { name: 'keys', key: 'jwt.key' },
};

/** Everything that says Ready, in the order in which it usually does. */
const parts: readonly (readonly [AnyResource, string])[] = [
  [accountings, 'slurm'],
  [controllers, 'slurm'],
  [restApis, 'slurm'],
  [tokens, 'alice'],
  [loginSets, 'login'],
  [clusters, 'slurm'],
  [nodeSets, 'compute'],
];

export class ControlPlane implements AsyncDisposable {
  readonly stage: SlurmStage;
  readonly #options: ControlPlaneOptions;
  /**
   * The node of slurmdbd and its database. No slurmctld with a standby shares it: one that has never saved what it knows of accounts
   * cannot take over while slurmdbd is away, so that both must not be lost at once.
   */
  readonly #databaseNode: string;

  /** Since 25.11 a standby does not answer /readyz; before, nothing tells Kubernetes which of two slurmctld is active. */
  get tellsWhoIsActive(): boolean {
    return this.#options.version !== '24.11';
  }

  private constructor(stage: SlurmStage, options: ControlPlaneOptions, databaseNode: string) {
    this.stage = stage;
    this.#databaseNode = databaseNode;
    this.#options = options;
  }

  static async open(options: ControlPlaneOptions): Promise<ControlPlane> {
    const stage = await SlurmStage.open(options);
    const { version } = options;
    if (loadsImages) {
      for (const name of ['slurmdbd', 'login'] as const)
        await stage.staged.loadImage((await buildImage(name, version)).path);
      for (const name of ['mariadb', 'ldap', 'curl'] as const)
        await stage.staged.loadImage((await buildImage(name)).path);
    }
    await stage.startOperator();
    const nodes = await stage.staged.nodeNames();
    return new ControlPlane(stage, options, nodes.at(-1) ?? '');
  }

  /** What the six kinds refer to: a database, a directory, and their secrets. */
  async prepare(): Promise<void> {
    await this.secret('mariadb', { password: 'a pass#word\\' });
    await this.create(configMaps, 'people', { data: { 'people.ldif': people() } });
    await this.#createNeighbour(
      mariadb({
        image: inGivenRegistry(imageTag('mariadb')),
        password: { name: 'mariadb', key: 'password' },
        // A claim, so that what is known of jobs outlives the database's pod.
        data: { persistentVolumeClaim: { claimName: 'mariadb' } },
        pod: { securityContext: { fsGroup: 999 } },
      }),
    );
    await this.#claim('mariadb', ['ReadWriteOnce']);
    if (this.#options.standby === true) await this.#claim('state', ['ReadWriteMany']);
    await this.#createNeighbour(ldap(inGivenRegistry(imageTag('ldap')), 'people'));
    await this.secret('sssd', { 'sssd.conf': sssdConf(await this.addressOf('ldap')) });
  }

  /** Controller, RestApi, Accounting, LoginSet, Token, and workers for them. */
  async apply(): Promise<void> {
    const { standby = false, onOneNode = false } = this.#options;
    await this.create(accountings, 'slurm', {
      spec: {
        ...keyRefs,
        ...this.#image('slurmdbd'),
        ...((standby || onOneNode) && { template: { spec: this.#besideDatabase() } }),
        storageConfig: {
          host: 'mariadb',
          username: 'slurm',
          passwordKeyRef: { name: 'mariadb', key: 'password' },
        },
      },
    });
    await this.create(controllers, 'slurm', {
      spec: {
        ...keyRefs,
        ...this.#image('slurmctld'),
        clusterName: 'test',
        accountingRef: { name: 'slurm' },
        configFileRefs: [{ name: 'cgroup' }],
        extraConf: [...extraConf, ...(standby ? ['SlurmctldTimeout=10'] : [])].join('\n'),
        ...(standby
          ? {
              ha: { enabled: true, backups: 1 },
              template: { spec: { affinity: { nodeAffinity: awayFrom(this.#databaseNode) } } },
              persistence: { enabled: true, existingClaim: 'state' },
            }
          : {}),
        ...(onOneNode && { template: { spec: this.#besideDatabase() } }),
      },
    });
    await this.create(restApis, 'slurm', {
      spec: { controllerRef: { name: 'slurm' }, ...this.#image('slurmrestd') },
    });
    await this.create(tokens, 'alice', { spec: { username: 'alice', jwtKeyRef: keyRefs.jwtKeyRef } });
    await this.create(loginSets, 'login', {
      spec: {
        controllerRef: { name: 'slurm' },
        ...this.#image('login'),
        sssdConfRef: { name: 'sssd', key: 'sssd.conf' },
      },
    });
    await this.create(nodeSets, 'compute', {
      spec: {
        controllerRef: { name: 'slurm' },
        ...this.#image('slurmd'),
        replicas: 2,
        partition: { enabled: true, config: 'Default=YES State=UP' },
      },
    });
  }

  async untilReady(): Promise<void> {
    for (const [resource, name] of parts) await this.ready(resource, name);
  }

  create<T extends KubeObject>(resource: Resource<T>, name: string, rest: object) {
    return this.stage.client.create(
      resource,
      draftOf(resource, {
        ...rest,
        apiVersion: resource.apiVersion,
        kind: resource.kind,
        metadata: { name, namespace },
      }),
    );
  }

  secret(name: string, values: Readonly<Record<string, string | Buffer>>) {
    return this.create(secrets, name, { data: encoded(values) });
  }

  /** Replaces values of a Secret. */
  rewrite(name: string, values: Readonly<Record<string, string | Buffer>>) {
    return this.stage.client.mergePatch(secrets, { namespace, name }, { data: encoded(values) });
  }

  patch<T extends KubeObject>(resource: Resource<T>, name: string, patch: object) {
    return this.stage.client.mergePatch(resource, { namespace, name }, patch);
  }

  async condition<T extends KubeObject>(resource: Resource<T>, name: string, type: string) {
    return currentCondition(await this.stage.client.get(resource, { namespace, name }), type);
  }

  /** Waits until an object says so of itself. */
  says<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    wanted: { readonly type: string; readonly status?: string; readonly reason?: string },
  ): Promise<Condition> {
    return untilCondition(this.stage.client, resource, { namespace, name }, wanted);
  }

  /** A worker that a killed slurmctld forgot is replaced only after the grace of some minutes: this outlasts that. */
  ready<T extends KubeObject>(resource: Resource<T>, name: string): Promise<Condition> {
    return untilReady(this.stage.client, resource, { namespace, name }, { seconds: 900 });
  }

  /** Output of a command inside a container; throws with its complaint when it fails. */
  async run(pod: string, container: string, command: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await exec(
      this.stage.client,
      { namespace, name: pod },
      [...command],
      { container, timeout: 60_000 },
    );
    if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${stderr}`);
    return stdout;
  }

  slurmctld(...command: string[]): Promise<string> {
    return this.run('slurm-controller-0', 'slurmctld', command);
  }

  /** The address of a Service. */
  async addressOf(service: string): Promise<string> {
    const found = await this.stage.client.get(services, { namespace, name: service });
    return found.spec?.clusterIP ?? '';
  }

  /** The pods of a daemon that are not being deleted. */
  async podsOf(app: string): Promise<Pod[]> {
    const { items } = await this.stage.client.list(pods, {
      namespace,
      labelSelector: `app.kubernetes.io/name=${app}`,
    });
    // Read-only in type only: the list is the caller's.
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined) as unknown as Pod[];
  }

  async podOf(app: string): Promise<string> {
    const [first] = await this.podsOf(app);
    if (first === undefined) throw new Error(`there is no pod of ${app}`);
    return first.metadata.name;
  }

  #image(name: 'slurmctld' | 'slurmd' | 'slurmdbd' | 'slurmrestd' | 'login') {
    return { [name]: { image: inGivenRegistry(imageTag(name, this.#options.version)) } };
  }

  #besideDatabase() {
    return { nodeSelector: { 'kubernetes.io/hostname': this.#databaseNode } };
  }

  #claim(name: string, accessModes: readonly string[]) {
    return this.create(persistentVolumeClaims, name, {
      spec: { accessModes, resources: { requests: { storage: '1Gi' } } },
    });
  }

  async #createNeighbour(wanted: Neighbour): Promise<void> {
    const { standby = false, onOneNode = false } = this.#options;
    const pod = { ...wanted.pod, ...((standby || onOneNode) && this.#besideDatabase()) };
    const { service, deployment } = neighbour({ ...wanted, pod });
    await this.create(services, wanted.name, service);
    await this.create(deployments, wanted.name, deployment);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stage[Symbol.asyncDispose]();
  }
}

const encoded = (values: Readonly<Record<string, string | Buffer>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );

function awayFrom(machine: string) {
  const expression = { key: 'kubernetes.io/hostname', operator: 'NotIn', values: [machine] };
  return {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [expression] }],
    },
  };
}
