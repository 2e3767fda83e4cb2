/** A cluster of this machine with nothing on it but images, and the programs a person would use: helm, kubectl, ssh. Needs root. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Helm } from '@slurm-operator/charts';
import { buildImage, buildOperatorImage, type SlurmVersion } from '@slurm-operator/images';
import {
  type Client,
  createClient,
  type KubeObject,
  type ObjectRef,
  type Pod,
  pods,
  type Resource,
  secrets,
  sleep,
} from '@slurm-operator/kube';
import { type LocalCluster, startLocalCluster } from '@slurm-operator/localcluster';
import { type Forwarded, Kubectl } from './kubectl.ts';
import { RestSession } from './rest-session.ts';

export interface HelmStageOptions {
  readonly name: string;
  readonly nodes: number;
  readonly version?: SlurmVersion;
}

export class HelmStage implements AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly client: Client;
  readonly helm: Helm;
  readonly kubectl: Kubectl;
  readonly directory: string;
  readonly version: SlurmVersion;
  readonly #doors: Forwarded[] = [];

  private constructor(parts: {
    cluster: LocalCluster;
    client: Client;
    helm: Helm;
    kubectl: Kubectl;
    directory: string;
    version: SlurmVersion;
  }) {
    this.cluster = parts.cluster;
    this.client = parts.client;
    this.helm = parts.helm;
    this.kubectl = parts.kubectl;
    this.directory = parts.directory;
    this.version = parts.version;
  }

  static async open({ name, nodes, version = '26.05' }: HelmStageOptions): Promise<HelmStage> {
    const images = [
      ...(await Promise.all(
        (['slurmctld', 'slurmrestd', 'slurmd', 'slurmdbd', 'login'] as const).map((image) =>
          buildImage(image, version),
        ),
      )),
      await buildImage('mariadb'),
      await buildOperatorImage(),
    ].map(({ path }) => path);
    const directory = await mkdtemp(join(tmpdir(), 'slurm-operator-helm-stage-'));
    const kubeconfig = join(directory, 'kubeconfig');
    // helm first: when it cannot be built, nothing was started in vain.
    const helm = await Helm.open({ kubeconfig, progress: console.log });
    const cluster = await startLocalCluster({ name, nodes, directory: join(directory, 'cluster'), images });
    await writeFile(kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
    const client = createClient(cluster.config, { userAgent: 'stage', rateLimit: false });
    const kubectl = await Kubectl.open(kubeconfig);
    return new HelmStage({ cluster, client, helm, kubectl, directory, version });
  }

  /** What the chart slurm needs to run the images of this stage's release. */
  get images(): object {
    const image = { tag: this.version };
    return {
      controller: { slurmctld: { image } },
      restapi: { slurmrestd: { image } },
      accounting: { slurmdbd: { image } },
      loginsetDefaults: { login: { image } },
      nodesetDefaults: { slurmd: { image } },
    };
  }

  /** slurmrestd of a cluster, with the token that a Secret holds. */
  async rest(cluster: string, ref: ObjectRef, version: string): Promise<RestSession> {
    const door = await this.kubectl.forward(ref.namespace ?? '', `service/${cluster}-restapi`, 6820);
    this.#doors.push(door);
    return new RestSession({ port: door.port, version, token: await this.token(ref) });
  }

  async token(ref: ObjectRef): Promise<string> {
    const secret = await this.client.get(secrets, ref);
    return Buffer.from(secret.data?.['SLURM_JWT'] ?? '', 'base64').toString('utf8');
  }

  async pods(namespace: string, app: string): Promise<Pod[]> {
    const labelSelector = `app.kubernetes.io/name=${app}`;
    return (await this.client.list(pods, { namespace, labelSelector })).items as Pod[];
  }

  /** Who these pods are: a pod that was replaced is another one, whatever its name. */
  async identities(namespace: string, app: string): Promise<string[]> {
    return (await this.pods(namespace, app)).map(({ metadata }) => String(metadata.uid)).toSorted();
  }

  async names<T extends KubeObject>(resource: Resource<T>, namespace: string): Promise<string[]> {
    const { items } = await this.client.list(resource, { namespace });
    return items.map(({ metadata }) => metadata.name).toSorted();
  }

  /** What belongs to something that was deleted is collected a moment after it. */
  async untilLeft<T extends KubeObject>(
    resource: Resource<T>,
    namespace: string,
    names: readonly string[],
  ): Promise<void> {
    await this.until(
      `of the ${resource.plural} in ${namespace} only [${names.join(', ')}] are left`,
      async () => {
        assert.deepEqual(await this.names(resource, namespace), names);
        return true;
      },
    );
  }

  /** Waits until `look` finds something; fails with what it said last. */
  async until<T>(what: string, look: () => Promise<T | undefined | false>, seconds = 240): Promise<T> {
    const deadline = performance.now() + seconds * 1000;
    let last: unknown = 'nothing';
    for (;;) {
      try {
        const found = await look();
        if (found !== undefined && found !== false) return found;
      } catch (error) {
        last = error;
      }
      if (performance.now() > deadline)
        throw new Error(`waited ${seconds} s in vain until ${what}`, { cause: last });
      await sleep(200, AbortSignal.timeout(5_000));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const door of this.#doors) await door[Symbol.asyncDispose]();
    this.client.close();
    await this.helm[Symbol.asyncDispose]();
    await this.cluster.stop();
    if (process.env['KEEP_STAGE'] === undefined) await rm(this.directory, { recursive: true, force: true });
  }
}
