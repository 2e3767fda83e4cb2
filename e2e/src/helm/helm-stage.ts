/** A cluster with nothing of ours on it but images, and the programs a person would use: helm, kubectl, ssh. Needs root, or a given cluster. */
import assert from 'node:assert/strict';
import { findHelm, Helm } from '@slurm-operator/charts';
import { installedImages, Kubectl, operatorNamespace, RestSession } from '@slurm-operator/demo/install';
import type { SlurmVersion } from '@slurm-operator/images';
import {
  type Client,
  type KubeObject,
  type ObjectRef,
  type Pod,
  pods,
  type Resource,
  secrets,
} from '@slurm-operator/kube';
import type { LocalCluster } from '@slurm-operator/localcluster';
import { givenRegistry, isGiven, loadsImages } from '../given/given-cluster.ts';
import { createNamespace } from '../given/ground.ts';
import { StagedCluster } from '../staged-cluster.ts';
import { until } from '../until.ts';

export interface HelmStageOptions {
  readonly name: string;
  readonly nodes: number;
  readonly version?: SlurmVersion;
}

export class HelmStage implements AsyncDisposable {
  readonly staged: StagedCluster;
  readonly client: Client;
  readonly helm: Helm;
  readonly kubectl: Kubectl;
  readonly directory: string;
  readonly version: SlurmVersion;
  readonly #undo: AsyncDisposableStack;

  private constructor(
    staged: StagedCluster,
    programs: { readonly helm: Helm; readonly kubectl: Kubectl },
    version: SlurmVersion,
    undo: AsyncDisposableStack,
  ) {
    this.staged = staged;
    this.client = staged.client;
    this.directory = staged.directory;
    this.helm = programs.helm;
    this.kubectl = programs.kubectl;
    this.version = version;
    this.#undo = undo;
  }

  static async open({ name, nodes, version = '26.05' }: HelmStageOptions): Promise<HelmStage> {
    const images = loadsImages ? await installedImages(version) : [];
    // First, because nothing needs to be started if it cannot be built.
    await findHelm({ progress: console.log });
    await using undo = new AsyncDisposableStack();
    const staged = undo.use(await StagedCluster.start({ name, nodes, images }));
    const helm = undo.use(await Helm.open({ kubeconfig: staged.kubeconfig }));
    const kubectl = await Kubectl.open(staged.kubeconfig);
    if (isGiven)
      for (const namespace of [operatorNamespace, 'slurm']) await createNamespace(staged.client, namespace);
    return new HelmStage(staged, { helm, kubectl }, version, undo.move());
  }

  /** The localcluster of this stage; what needs it is not run on a given cluster. */
  get cluster(): LocalCluster {
    return this.staged.cluster;
  }

  /** What the chart slurm needs to run the images of this stage's release. */
  get images(): object {
    const image = { tag: this.version };
    return {
      registry: givenRegistry,
      controller: { slurmctld: { image } },
      restapi: { slurmrestd: { image } },
      accounting: { slurmdbd: { image } },
      loginsetDefaults: { login: { image } },
      nodesetDefaults: { slurmd: { image } },
    };
  }

  /** slurmrestd of a cluster, with the token that a Secret holds. */
  async rest(cluster: string, ref: ObjectRef, version: string): Promise<RestSession> {
    const forwarded = await this.kubectl.forward(ref.namespace ?? '', `service/${cluster}-restapi`, 6820);
    this.#undo.use(forwarded);
    return new RestSession({ port: forwarded.port, version, token: await this.token(ref) });
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
    await until(`of the ${resource.plural} in ${namespace} only [${names.join(', ')}] are left`, async () => {
      assert.deepEqual(await this.names(resource, namespace), names);
      return true;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#undo.disposeAsync();
  }
}
