/** The operator as its chart installs it on a given cluster, from its image: stopped, started and killed through the API. */
import type { Helm } from '@slurm-operator/charts';
import { operatorNamespace } from '@slurm-operator/demo/install';
import { type Client, deployments, pods } from '@slurm-operator/kube';
import { until } from '../until.ts';
import { installOperator } from './given-cluster.ts';
import { createNamespace } from './ground.ts';

const ref = { namespace: operatorNamespace, name: 'slurm-operator' };
const labelSelector = 'app.kubernetes.io/name=slurm-operator';

export class InstalledOperator {
  readonly #client: Client;
  readonly #replicas: number;

  private constructor(client: Client, replicas: number) {
    this.#client = client;
    this.#replicas = replicas;
  }

  static async install(client: Client, helm: Helm): Promise<InstalledOperator> {
    await createNamespace(client, operatorNamespace);
    await installOperator(helm);
    const { spec } = await client.get(deployments, ref);
    return new InstalledOperator(client, spec?.replicas ?? 1);
  }

  /** Comes back when every replica is available. */
  async start(): Promise<void> {
    await this.#scale(this.#replicas);
    await until('the operator is available', async () => {
      const { metadata, status } = await this.#client.get(deployments, ref);
      return (
        status?.observedGeneration === metadata.generation && status?.availableReplicas === this.#replicas
      );
    });
  }

  async stop(): Promise<void> {
    await this.#scale(0);
    await until('the operator is gone', async () => (await this.#pods()).length === 0);
  }

  /** Kills all replicas at once; its Deployment starts others. */
  async kill(): Promise<void> {
    for (const { metadata } of await this.#pods())
      await this.#client.delete(pods, metadata, { gracePeriodSeconds: 0 });
  }

  async #pods() {
    return (await this.#client.list(pods, { namespace: operatorNamespace, labelSelector })).items;
  }

  async #scale(replicas: number): Promise<void> {
    await this.#client.mergePatch(deployments, ref, { spec: { replicas } });
  }
}
