/** The cluster of one user of upstream, with real daemons and a running job, before and after the move. */
import { rm } from 'node:fs/promises';
import { chart, type Helm } from '@slurm-operator/charts';
import type { Kubectl } from '@slurm-operator/demo/install';
import type { SlurmVersion } from '@slurm-operator/images';
import {
  type Client,
  type KubeObject,
  type Live,
  nodes,
  type Pod,
  pods,
  type Resource,
} from '@slurm-operator/kube';
import { controllers, nodeSets } from '@slurm-operator/operator';
import { createNamespace } from '../given/ground.ts';
import { until } from '../until.ts';
import { chartValues, writeUpstreamsChart } from './chart-values.ts';
import { customResources, type Keys, secretsOf } from './custom-resources.ts';
import { activeLabel, madeByUpstream } from './daemons.ts';
import { database, elsewhere } from './elsewhere.ts';
import { extraConf } from './slurm-files.ts';
import {
  elsewhereOf,
  type Manifest,
  objectName,
  type UserClass,
  workerCount,
  workerStem,
} from './user-class.ts';
import { revisionHash, revisionOf, worker } from './workers.ts';

export const resourceOf = ({ apiVersion, kind }: Manifest): Resource => ({
  apiVersion,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

export interface Clients {
  /** Writes what users write, as helm's. */
  readonly helm: Client;
  /** Writes what upstream's operator writes, under its name. */
  readonly upstream: Client;
  readonly kubectl: Kubectl;
  /** Installs the releases of users. */
  readonly program: Helm;
}

export interface Job {
  readonly state: string;
  readonly restarts: number;
}

/** One process of a pod, as the kubelet counts it. */
export interface Running {
  readonly pod: string;
  readonly uid: string;
  readonly containers: readonly string[];
}

export class UpstreamUser {
  readonly user: UserClass;
  readonly #version: SlurmVersion;
  readonly #clients: Clients;
  readonly #keys: Keys;
  readonly #uids = new Map<string, string>();
  #extraConf = extraConf;

  constructor(user: UserClass, version: SlurmVersion, clients: Clients, keys: Keys) {
    this.user = user;
    this.#version = version;
    this.#clients = clients;
    this.#keys = keys;
  }

  get namespace(): string {
    return this.user.name;
  }

  get slurmctldPods(): number {
    return { one: 1, two: 2, elsewhere: 0 }[this.user.slurmctld];
  }

  /** Everything as upstream leaves it, with all workers idle in Slurm. */
  async lay(): Promise<void> {
    const { helm, upstream } = this.#clients;
    const site = elsewhere(this.user, this.#version, this.#keys);
    await createNamespace(helm, this.namespace);
    if (site.length > 0) {
      await createNamespace(helm, elsewhereOf(this.user));
      for (const manifest of site) await this.#create(helm, elsewhereOf(this.user), manifest);
    }
    if (this.user.slurmctld === 'two') await this.#create(helm, this.namespace, sharedClaim);
    if (this.user.slurmdbd === 'here')
      for (const manifest of database()) await this.#create(helm, this.namespace, manifest);
    const custom = customResources(this.user, this.#version);
    await this.#installRelease([...secretsOf(this.#keys), ...custom]);
    for (const manifest of madeByUpstream(this.user, this.#version, this.#keys))
      await this.#create(upstream, this.namespace, manifest);
    await this.untilSlurmAnswers();
    const nodeSet = custom.find(({ kind }) => kind === 'NodeSet');
    await this.#create(upstream, this.namespace, revisionOf(nodeSet?.['spec'] as Record<string, unknown>));
    for (let index = 0; index < workerCount; index += 1)
      await this.#create(upstream, this.namespace, worker(this.user, this.#version, index));
    await this.untilIdle(workerCount);
    await this.#describeWorkers();
  }

  /** As upstream's chart does. */
  async #installRelease(manifests: readonly Manifest[]): Promise<void> {
    const { helm, program } = this.#clients;
    const directory = await writeUpstreamsChart(manifests);
    await program.run(['install', 'slurm', directory, '--namespace', this.namespace]);
    await rm(directory, { recursive: true, force: true });
    for (const manifest of manifests.filter(({ apiVersion }) => apiVersion.startsWith('slinky'))) {
      const { name } = manifest.metadata;
      const { metadata } = await helm.get(resourceOf(manifest), { namespace: this.namespace, name });
      this.#uids.set(manifest.kind, metadata.uid);
    }
  }

  /** As upstream's operator does: the label that its Service selects, which every new pod lacks. */
  async untilSlurmAnswers(): Promise<void> {
    await until(`slurmctld of ${this.namespace} to answer`, async () => {
      if (this.slurmctldPods > 0)
        await this.#clients.upstream.mergePatch(
          pods,
          { namespace: this.namespace, name: 'slurm-controller-0' },
          { metadata: { labels: { [activeLabel]: 'true' } } },
        );
      return (await this.slurm('scontrol', 'ping')).includes('is UP');
    });
  }

  async untilIdle(count: number): Promise<void> {
    await until(`${count} workers of ${this.namespace} to be usable`, async () => {
      const said = await this.slurm(
        'sinfo',
        '--noheader',
        '--Node',
        '--partition',
        workerStem,
        '--format',
        '%N %T %f %w',
      );
      const usable = said.split('\n').filter((line) => /^\S+ (idle|mixed|allocated) \S+ 5/.test(line.trim()));
      if (usable.length === count) return true;
      throw new Error(`sinfo says ${JSON.stringify(said)}`);
    });
  }

  /** Runs a command of Slurm beside slurmctld. */
  async slurm(...command: readonly string[]): Promise<string> {
    const place =
      this.slurmctldPods === 0
        ? ['-n', elsewhereOf(this.user), 'exec', 'slurmctld']
        : ['-n', this.namespace, 'exec', 'slurm-controller-0'];
    return this.#clients.kubectl.say(...place, '-c', 'slurmctld', '--', 'timeout', '30', ...command);
  }

  /** A job on a worker that ends when it is told to. */
  async submit(index: number): Promise<string> {
    const wait = 'until test -e /tmp/finish; do sleep 0.5; done';
    const id = await this.#sbatch(`--nodelist=${workerStem}-${index}`, wait);
    await until(
      `job ${id} of ${this.namespace} to run`,
      async () => (await this.job(id)).state === 'RUNNING',
    );
    return id;
  }

  /** A job that starts when another one has ended well. */
  submitAfter(id: string): Promise<string> {
    return this.#sbatch(`--dependency=afterok:${id}`, 'true');
  }

  async #sbatch(option: string, script: string): Promise<string> {
    const place = ['--chdir=/tmp', '--output=/dev/null', `--partition=${workerStem}`];
    return (await this.slurm('sbatch', '--parsable', ...place, option, '--wrap', script)).trim();
  }

  async finishJobOn(index: number): Promise<void> {
    const pod = ['exec', `${objectName['NodeSet']}-${index}`, '-c', 'slurmd'];
    await this.#clients.kubectl.say('-n', this.namespace, ...pod, '--', 'touch', '/tmp/finish');
  }

  async job(id: string): Promise<Job> {
    // The pod of slurmctld may be about to be replaced.
    const said = await until(`slurmctld of ${this.namespace} to know job ${id}`, () =>
      this.slurm('scontrol', '--oneliner', 'show', 'job', id),
    );
    const value = (key: string) => new RegExp(`\\b${key}=(\\S+)`).exec(said)?.[1] ?? '';
    return { state: value('JobState'), restarts: Number(value('Restarts')) };
  }

  async workers(): Promise<Running[]> {
    const { items } = await this.#clients.upstream.list(pods, {
      namespace: this.namespace,
      labelSelector: 'app.kubernetes.io/name=slurmd',
    });
    // The type of the resource has no status of init containers.
    return (items as unknown as (Pod & Live)[])
      .map(({ metadata, status }) => ({
        pod: metadata.name,
        uid: metadata.uid,
        containers: [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
          ({ name, containerID, restartCount }) => `${name} ${containerID} ${restartCount}`,
        ),
      }))
      .toSorted((a, b) => (a.pod < b.pod ? -1 : 1));
  }

  /**
   * As docs/migration.md says. Upstream's operator leaves Slurm's default, with which slurmctld ends the jobs of a worker that seems to
   * have rebooted.
   */
  async prepareWayBack(): Promise<void> {
    if (this.slurmctldPods === 0) return;
    const ref = { namespace: this.namespace, name: objectName['Controller'] ?? '' };
    this.#extraConf = `${extraConf}\nReturnToService=2`;
    await this.#clients.helm.mergePatch(controllers, ref, { spec: { extraConf: this.#extraConf } });
  }

  /** Upstream's operator is back: it overwrites the fields that it owns, and its pods get its label. */
  async writtenByUpstreamAgain(): Promise<void> {
    const { upstream } = this.#clients;
    for (const manifest of madeByUpstream(this.user, this.#version, this.#keys, this.#extraConf)) {
      const ref = { namespace: this.namespace, name: manifest.metadata.name };
      const live = (await upstream.get(resourceOf(manifest), ref)) as Live & Record<string, unknown>;
      // Not every kind has a spec.
      const { spec } = manifest as unknown as { spec?: Record<string, unknown> };
      const patched = {
        ...live,
        ...(manifest['data'] === undefined ? {} : { data: manifest['data'] }),
        ...(spec === undefined
          ? {}
          : { spec: { ...(live['spec'] as object), ...overwritten(manifest.kind, spec) } }),
      };
      await upstream.replace(resourceOf(manifest), patched);
    }
  }

  /** Step 6 of docs/migration.md. */
  async movesToChart(replicas: number): Promise<void> {
    const { kubectl, program } = this.#clients;
    const keys = ['secret', 'slurm-auth-slurm', 'slurm-auth-jwt', 'helm.sh/resource-policy=keep'];
    await kubectl.say('--namespace', this.namespace, 'annotate', ...keys);
    const values = await program.file(chartValues(this.user, this.#version, replicas));
    const place = ['--namespace', this.namespace, '--values', values];
    await program.run(['upgrade', 'slurm', chart('slurm'), ...place]);
  }

  /** For messages. */
  nodeSet(): Promise<string> {
    const name = objectName['NodeSet'] ?? '';
    return this.#clients.kubectl.say('-n', this.namespace, 'get', 'nodesets', name, '--output=yaml');
  }

  /** The comment by which upstream knows which pod a Slurm node is, and the status of the NodeSet. */
  async #describeWorkers(): Promise<void> {
    const nodeSetName = objectName['NodeSet'] ?? '';
    const nodeSetUID = this.#uids.get('NodeSet');
    const { items } = await this.#clients.upstream.list(pods, {
      namespace: this.namespace,
      labelSelector: 'app.kubernetes.io/name=slurmd',
    });
    // Read-only in type only: the list is the caller's.
    for (const { metadata, spec } of items as unknown as (Pod & Live)[]) {
      const info = {
        namespace: this.namespace,
        podName: metadata.name,
        node: spec?.nodeName,
        nodeSetName,
        nodeSetUID,
      };
      const name = metadata.labels?.['nodeset.slinky.slurm.net/pod-hostname'] ?? '';
      await this.slurm('scontrol', 'update', `nodename=${name}`, `comment=${JSON.stringify(info)}`);
    }
    const counts = {
      replicas: workerCount,
      updatedReplicas: workerCount,
      readyReplicas: workerCount,
      desired: workerCount,
    };
    const status = {
      ...counts,
      nodeSetHash: revisionHash,
      selector: `app.kubernetes.io/instance=${nodeSetName}`,
    };
    const ref = { namespace: this.namespace, name: nodeSetName };
    await this.#clients.upstream.mergePatch(nodeSets, ref, { status }, { subresource: 'status' });
  }

  async #create(client: Client, namespace: string, { owner, ...manifest }: Manifest): Promise<void> {
    const kind = owner === 'shared by NodeSets' ? 'NodeSet' : owner;
    const reference = kind && {
      apiVersion: 'slinky.slurm.net/v1beta1',
      kind,
      name: objectName[kind],
      uid: this.#uids.get(kind),
      blockOwnerDeletion: true,
      ...(owner === 'shared by NodeSets' ? {} : { controller: true }),
    };
    const metadata = {
      ...manifest.metadata,
      namespace,
      ...(reference === undefined ? {} : { ownerReferences: [reference] }),
    };
    const created = await client.create(resourceOf(manifest), {
      ...manifest,
      metadata,
    } as unknown as KubeObject); // a manifest is written by hand; the server checks it
    if (manifest.apiVersion.startsWith('slinky')) this.#uids.set(manifest.kind, created.metadata.uid);
  }
}

const sharedClaim: Manifest = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'state' },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
};

/** The fields that upstream's operator sets on an object that exists. */
function overwritten(kind: string, spec: Readonly<Record<string, unknown>>): object {
  const take = (...fields: string[]) =>
    Object.fromEntries(fields.filter((field) => field in spec).map((field) => [field, spec[field]]));
  switch (kind) {
    case 'StatefulSet':
      return { ...take('replicas', 'template'), updateStrategy: { type: 'RollingUpdate' } };
    case 'Deployment':
      return take('replicas', 'template');
    case 'Service':
      return take('selector', 'ports');
    default:
      return { ...take('selector', 'maxUnavailable'), minAvailable: undefined };
  }
}

/** Nodes of the stage may lack the label that upstream's chart selects. */
export async function labelNodes(client: Client): Promise<void> {
  for (const { metadata } of (await client.list(nodes)).items)
    await client.mergePatch(
      nodes,
      { name: metadata.name },
      { metadata: { labels: { 'kubernetes.io/os': 'linux' } } },
    );
}
