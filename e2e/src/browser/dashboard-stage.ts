/** A cluster with real Slurm, the operator and its dashboard, and people who log in; as the demo has them, without accounting and logins. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
import { type Client, deployments, kubeconfigConfig, namespaces } from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { runCommand } from '@slurm-operator/sandbox';
import { parseAllDocuments } from 'yaml';
import { StagedCluster } from '../staged-cluster.ts';
import { until } from '../until.ts';

export const operatorNamespace = demoOperatorNamespace;
export const slurmNamespace = demoNamespace;
export const nodeSetName = 'slurm-worker-w';

const roles = fileURLToPath(new URL('../../../deploy/kubectl-slurm-roles.yaml', import.meta.url));
const bundler = fileURLToPath(new URL('../../../packages/cli/src/bundle-main.ts', import.meta.url));

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

  /** `kubectl slurm dashboard` of one of the people, with the link that it prints. */
  async ownDashboard(name: string): Promise<AsyncDisposable & { readonly link: string }> {
    const plugin = join(this.staged.directory, 'kubectl-slurm');
    await runCommand([process.execPath, bundler, plugin]);
    await this.#introduce(name);
    const kubeconfig = join(this.staged.directory, `kubeconfig-${name}`);
    await writeFile(kubeconfig, await this.#kubeconfigWith(await this.tokenOf(name)), { mode: 0o600 });
    const { SLURM_JWT: _, ...env } = process.env;
    const child = spawn(process.execPath, [plugin, '--operator-namespace', operatorNamespace, 'dashboard'], {
      env: { ...env, KUBECONFIG: kubeconfig, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const link = await until('the link', () => {
      if (child.exitCode !== null) throw new Error(`kubectl slurm dashboard ended: ${said}`);
      return /http:\/\/127\.0\.0\.1:\S+/.exec(said)?.[0];
    });
    return {
      link,
      async [Symbol.asyncDispose]() {
        child.kill();
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      },
    };
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

  /** What the docs tell an administrator to bind for users of kubectl slurm. */
  async #introduce(name: string): Promise<void> {
    const rbac = 'rbac.authorization.k8s.io';
    for (const role of parseAllDocuments(await readFile(roles, 'utf8')))
      await this.client.json('POST', `/apis/${rbac}/v1/clusterroles`, { body: role.toJS() as object });
    for (const [namespace, kind, role] of [
      [slurmNamespace, 'ClusterRole', 'slurm-user'],
      [operatorNamespace, 'Role', 'slurm-operator-token-exchange'],
    ] as const)
      await this.client.json('POST', `/apis/${rbac}/v1/namespaces/${namespace}/rolebindings`, {
        body: {
          apiVersion: `${rbac}/v1`,
          kind: 'RoleBinding',
          metadata: { name: `kubectl-slurm-${name}` },
          roleRef: { apiGroup: rbac, kind, name: role },
          subjects: [{ kind: 'ServiceAccount', name, namespace: slurmNamespace }],
        },
      });
  }

  /** The cluster, with a token instead of the certificate of the administrator. */
  async #kubeconfigWith(token: string): Promise<string> {
    const { server } = await kubeconfigConfig({ files: [this.staged.kubeconfig] });
    const { ca = '' } = await this.client.config.identity({ refused: false });
    const base64 = Buffer.from(ca).toString('base64');
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': base64 } }],
      users: [{ name: 'u', user: { token } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: slurmNamespace } }],
      'current-context': 'x',
    });
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
