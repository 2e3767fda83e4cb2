/** The dashboard program beside a real manager with a token exchange, on an embedded API server, with a simulated Slurm. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { group, tokenExchange } from '@slurm-operator/api';
import { startApiServer } from '@slurm-operator/apiserver';
import { configMaps, kubeconfigConfig, namespaces, pods, services } from '@slurm-operator/kube';
import { freePort, until } from '@slurm-operator/kube/testing';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { controllers, restApis } from '../src/cache/resources.ts';
import { runDashboard } from '../src/programs/run-dashboard.ts';
import { runManager } from '../src/programs/run-manager.ts';
import {
  dashboardClusterRules,
  dashboardExchangeRules,
  dashboardNamespaceRules,
  exchangeNamespaceRules,
  leaseRules,
  managerClusterRules,
  managerNamespaceRules,
  type PolicyRule,
  reviewRules,
} from '../src/rbac/rules.ts';
import { aController, aRestApi } from './objects.ts';
import { type OperatorWorld, startOperatorWorld } from './operator-world.ts';
import { restrictedConfig } from './restricted-config.ts';
import { loopbackServices, SlurmBehindService } from './slurm-behind-service.ts';

export const people = 'people';
export const dashboardAccount = 'slurm-operator-dashboard';
export const dashboardBase = '/api/clusters/hpc/slurm';

export interface DashboardWorldOptions {
  /** What Kubernetes puts before the names of people. */
  readonly userPrefix: string;
  readonly rules: readonly PolicyRule[];
  /** More flags of the dashboard. */
  readonly flags?: (directory: string) => Promise<readonly string[]>;
}

export interface DashboardBody {
  readonly rows: readonly { readonly user: string; readonly name: string }[];
  readonly clusters: readonly unknown[];
  readonly templates: readonly { readonly name: string }[];
  readonly results: readonly { readonly done: boolean; readonly message: string }[];
  readonly id: number;
  readonly user: string;
  readonly message: string;
}

export const dashboardRules = [...dashboardClusterRules, ...dashboardNamespaceRules, ...reviewRules];

export class DashboardWorld {
  readonly world: OperatorWorld;
  readonly slurm: Simulator;
  /** Of people and of the programs. */
  readonly tokens: string[] = [];
  #directory = '';
  #origin = '';
  #behind: SlurmBehindService | undefined;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>[] = [];

  private constructor(world: OperatorWorld, slurm: Simulator) {
    this.world = world;
    this.slurm = slurm;
  }

  static async start(options: DashboardWorldOptions): Promise<DashboardWorld> {
    const server = await startApiServer({ serviceNetwork: loopbackServices });
    const world = await startOperatorWorld(
      {
        cluster: [...managerClusterRules, ...managerNamespaceRules, ...reviewRules],
        namespaces: { slinky: [...leaseRules, ...exchangeNamespaceRules] },
      },
      { server, stop: () => server.stop() },
    );
    const started = new DashboardWorld(world, await startSimulator({ nodes: 'n[0-3]' }));
    await started.#serveAll(options);
    return started;
  }

  async ask(path: string, headers: Readonly<Record<string, string>>, body?: object) {
    const post = { Origin: this.#origin, 'Content-Type': 'application/json' };
    const response = await fetch(`${this.#origin}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(body && post) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as DashboardBody,
    };
  }

  /** The cookie. */
  async logIn(name: string): Promise<{ readonly Cookie: string }> {
    const { status, headers, body } = await this.ask('/api/login', {}, { token: await this.tokenOf(name) });
    assert.equal(status, 200, JSON.stringify(body));
    return { Cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
  }

  async tokenOf(name: string, namespace = people): Promise<string> {
    const { status } = await this.world.client.json<{ status: { token: string } }>(
      'POST',
      `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
      { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} } },
    );
    this.tokens.push(status.token);
    return status.token;
  }

  /** A service account of people with these rights. */
  async bind(name: string, granting: readonly { resources: string[]; verbs: string[] }[]): Promise<void> {
    await this.#serviceAccount(name, people);
    await this.grant(name, { kind: 'ServiceAccount', name, namespace: people }, granting);
  }

  async grant(
    name: string,
    subject: object,
    granting: readonly { resources: string[]; verbs: string[] }[],
  ): Promise<void> {
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const at = `/apis/${apiVersion}/namespaces/${this.world.namespace}`;
    await this.world.client.json('POST', `${at}/roles`, {
      body: {
        apiVersion,
        kind: 'Role',
        metadata: { name },
        rules: granting.map((one) => ({ apiGroups: [group], ...one })),
      },
    });
    await this.world.client.json('POST', `${at}/rolebindings`, {
      body: {
        apiVersion,
        kind: 'RoleBinding',
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [subject],
      },
    });
  }

  /** The programs and Slurm end; the API server stays, so that its audit can be read. */
  async stopPrograms(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#running);
    await this.#behind?.[Symbol.asyncDispose]();
    await this.slurm[Symbol.asyncDispose]();
  }

  async stop(): Promise<void> {
    await this.world.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #serveAll({ userPrefix, rules, flags }: DashboardWorldOptions): Promise<void> {
    const { world, slurm } = this;
    this.#directory = await mkdtemp(join(tmpdir(), `dashboard-${process.pid}-`));
    await world.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: people },
    });
    await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
    await world.putSecret('slurm-jwt', 'jwt.key', slurm.jwtKey);
    await world.put(controllers, aController());
    await world.put(restApis, aRestApi());
    const exchangePort = await freePort();
    await this.#serve(runManager, 'slurm-operator', [
      `--token-exchange-addr=127.0.0.1:${exchangePort}`,
      `--token-exchange-user-prefix=${userPrefix}`,
    ]);
    await this.#operatorPod(exchangePort);
    const service = await until('the Service of slurmrestd', () =>
      world.client.find(services, { namespace: world.namespace, name: 'slurm-restapi' }),
    );
    this.#behind = await SlurmBehindService.open(service, slurm);
    await writeFile(join(this.#directory, 'index.html'), '<!doctype html><title>page</title>');
    const port = await freePort();
    this.#origin = `http://127.0.0.1:${port}`;
    await restrictedConfig(world.server, world.client, dashboardAccount, {
      // The last one is for a dashboard outside of the cluster only.
      cluster: [...rules, { apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] }],
      namespaces: { slinky: dashboardExchangeRules },
    });
    await this.#serve(runDashboard, dashboardAccount, [
      `--dashboard-addr=127.0.0.1:${port}`,
      `--page-directory=${this.#directory}`,
      '--secure-cookies=false',
      '--reach-services-by=address',
      `--user-prefix=${userPrefix}`,
      ...((await flags?.(this.#directory)) ?? []),
    ]);
    await until(
      'it listens',
      async () => (await fetch(`${this.#origin}/healthz`).catch(() => undefined))?.ok,
    );
  }

  /** Runs a program with a token of its service account, as in a pod. */
  async #serve(program: typeof runManager, name: string, args: readonly string[]): Promise<void> {
    const { world } = this;
    await this.#serviceAccount(name, 'slinky');
    const { server } = await kubeconfigConfig({ text: world.server.kubeconfig() });
    const { ca = '' } = await world.client.config.identity({ refused: false });
    const kubeconfig = join(this.#directory, `kubeconfig-${name}`);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
      ],
      users: [{ name: 'u', user: { token: await this.tokenOf(name, 'slinky') } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    const common = [`--kubeconfig=${kubeconfig}`, '--log-level=debug', '--health-addr=0', '--metrics-addr=0'];
    const ended = program([...common, ...args], { POD_NAMESPACE: 'slinky' }, this.#stop.signal);
    ended.catch(() => undefined);
    this.#running.push(ended);
  }

  /** There is no kubelet: the pod through which the dashboard finds the exchange. */
  async #operatorPod(containerPort: number): Promise<void> {
    const { client } = this.world;
    await until('the authority', () =>
      client.find(configMaps, { namespace: 'slinky', name: tokenExchange.name }),
    );
    const container = {
      name: 'manager',
      image: 'x',
      ports: [{ name: tokenExchange.portName, containerPort }],
    };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'operator',
        namespace: 'slinky',
        labels: { 'app.kubernetes.io/component': 'operator' },
      },
      spec: { containers: [container] },
    };
    await client.create(pods, pod as never);
    const status = { podIP: '127.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] };
    const ref = { namespace: 'slinky', name: 'operator' };
    await client.mergePatch(pods, ref, { status }, { subresource: 'status' });
  }

  #serviceAccount(name: string, namespace: string): Promise<unknown> {
    return this.world.client.json('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
      body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
    });
  }
}
