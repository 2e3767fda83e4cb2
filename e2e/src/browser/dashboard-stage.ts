/** A cluster with real Slurm, the operator and its dashboard, and people who log in; as the demo has them, without accounting and logins. */
import { Helm } from '@slurm-operator/charts';
import {
  demoNamespace,
  demoOperatorNamespace,
  demoValues,
  operatorValues,
  slurmVersion,
} from '@slurm-operator/demo';
import { type Forwarded, installOperator, installSlurm, Kubectl } from '@slurm-operator/demo/install';
import { buildImage, buildOperatorImage } from '@slurm-operator/images';
import { type Client, deployments, namespaces } from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { StagedCluster } from '../staged-cluster.ts';
import { until } from '../until.ts';

export const operatorNamespace = demoOperatorNamespace;
export const slurmNamespace = demoNamespace;
export const nodeSetName = 'slurm-worker-w';

export class DashboardCluster implements AsyncDisposable {
  readonly client: Client;
  readonly kubectl: Kubectl;
  readonly staged: StagedCluster;
  readonly #helm: Helm;
  #forwarded: Forwarded | undefined;

  private constructor(staged: StagedCluster, kubectl: Kubectl, helm: Helm) {
    this.staged = staged;
    this.client = staged.client;
    this.kubectl = kubectl;
    this.#helm = helm;
  }

  static async start(name: string): Promise<DashboardCluster> {
    const images = [
      ...(await Promise.all(
        (['slurmctld', 'slurmrestd', 'slurmd'] as const).map((image) => buildImage(image, slurmVersion)),
      )),
      await buildOperatorImage(),
    ].map(({ path }) => path);
    const staged = await StagedCluster.start({ name, nodes: 2, images });
    const helm = await Helm.open({ kubeconfig: staged.kubeconfig });
    const stage = new DashboardCluster(staged, await Kubectl.open(staged.kubeconfig), helm);
    try {
      await stage.#install();
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Where a browser reaches the page. */
  get origin(): string {
    return `http://localhost:${this.#forwarded?.port}`;
  }

  /** A token of one of the people of the demo. */
  async tokenOf(name: string): Promise<string> {
    const said = await this.kubectl.say('--namespace', slurmNamespace, 'create', 'token', name);
    return said.trim();
  }

  /** Output of a command beside slurmctld. */
  inController(...command: readonly string[]): Promise<string> {
    return this.kubectl.say(
      '--namespace',
      slurmNamespace,
      'exec',
      'slurm-controller-0',
      '--container=slurmctld',
      '--',
      ...command,
    );
  }

  async scale(namespace: string, name: string, replicas: number): Promise<void> {
    await this.client.mergePatch(deployments, { namespace, name }, { spec: { replicas } });
  }

  async #install(): Promise<void> {
    await installOperator(this.#helm, operatorValues(''), { namespace: operatorNamespace, wait: false });
    await this.client
      .create(namespaces, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: slurmNamespace, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
      })
      .catch(() => undefined);
    const values = {
      ...demoValues({ publicKey: '', registry: '', machines: 2 }),
      accounting: { enabled: false },
      loginsets: {},
      nodesets: {
        w: {
          replicas: 2,
          partition: { enabled: true, configMap: { Default: true, MaxTime: 'UNLIMITED', State: 'UP' } },
        },
      },
    };
    await until('the operator', async () => {
      const found = await this.client.find(deployments, {
        namespace: operatorNamespace,
        name: 'slurm-operator',
      });
      return (found?.status?.availableReplicas ?? 0) > 0;
    });
    await installSlurm(this.#helm, { release: 'slurm', namespace: slurmNamespace, values });
    await until('both workers', async () => {
      const found = await this.client.find(nodeSets, { namespace: slurmNamespace, name: nodeSetName });
      return (found?.status?.availableReplicas ?? 0) === 2;
    });
    this.#forwarded = await this.kubectl.forward(operatorNamespace, 'service/slurm-operator-dashboard', 8090);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#forwarded?.[Symbol.asyncDispose]();
    await this.#helm[Symbol.asyncDispose]();
    await this.staged[Symbol.asyncDispose]();
  }
}
