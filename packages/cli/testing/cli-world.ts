/** An embedded API server with a Slurm cluster in it, and a simulated slurmrestd: where commands run in tests. */
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  deployments,
  kubeconfigConfig,
  leases,
  namespaces,
  pods,
  secrets,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { type Simulator, startSimulator } from '@slurm-operator/slurm/testing';
import { clusterRoles } from '../src/command-line/cluster-roles.ts';
import { commands, type Io, run } from '../src/index.ts';
import { clusters, nodeSets } from '../src/session/resources.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunAs {
  /** @default the administrator */
  readonly user?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** @default none: standard input is no terminal */
  readonly answer?: string;
  /** What happens while the question is on the screen. */
  readonly onAsk?: () => Promise<void>;
  readonly columns?: number;
  readonly colours?: boolean;
  /** Sees answers while the command runs. */
  readonly onOut?: (text: string) => void;
  /** Ends the command, as Ctrl-C does. */
  readonly signal?: AbortSignal;
  /** Sees what is written to stderr while the command runs. */
  readonly onErr?: (text: string) => void;
}

const namespace = 'hpc';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

const microTime = (at: number): string => new Date(at).toISOString().replace('Z', '000Z');

export class CliWorld {
  readonly server: ApiServer;
  readonly slurm: Simulator;
  readonly client: Client;

  private constructor(server: ApiServer, slurm: Simulator, client: Client) {
    this.server = server;
    this.slurm = slurm;
    this.client = client;
  }

  static async start(nodes = 'gpu-[0-2]'): Promise<CliWorld> {
    const server = await startApiServer();
    const slurm = await startSimulator({ nodes });
    const client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { rateLimit: false });
    const world = new CliWorld(server, slurm, client);
    for (const kind of kinds)
      await client.create(customResourceDefinitions, customResourceDefinition(kind) as never);
    for (const name of [namespace, 'empty', 'twice'])
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const role of clusterRoles(commands))
      await client.json('POST', `${rbac}/clusterroles`, { body: role });
    for (const role of ['viewer', 'user', 'admin'])
      await client.json('POST', `${rbac}/clusterrolebindings`, {
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRoleBinding',
          metadata: { name: role },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `slurm-${role}` },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: role }],
        },
      });
    await until('the kinds', () =>
      client.list(clusters).then(
        () => true,
        () => false,
      ),
    );
    await world.#createCluster('slurm', namespace);
    await world.#createCluster('one', 'twice');
    await world.#createCluster('two', 'twice');
    await client.create(nodeSets, {
      apiVersion: nodeSets.apiVersion,
      kind: 'NodeSet',
      metadata: { name: 'gpu', namespace },
      spec: {
        controllerRef: { name: 'slurm' },
        replicas: 3,
        slurmd: { image: 'slurmd:26.05' },
        template: {},
      },
    } as never);
    for (const index of [0, 1, 2]) await world.#createWorker(`gpu-${index}`);
    await world.#createOperator();
    return world;
  }

  async run(words: readonly string[], as: RunAs = {}): Promise<Ran> {
    let out = '';
    let err = '';
    const io: Io = {
      out: (text) => {
        out += text;
        as.onOut?.(text);
      },
      clear: () => (out += '[clear]'),
      err: (text) => {
        err += text;
        as.onErr?.(text);
      },
      isTty: false,
      canAsk: as.answer !== undefined,
      columns: as.columns ?? 100,
      env: { ...(as.colours === true ? { FORCE_COLOR: '1' } : {}), ...as.env },
      now: () => Date.now(),
      timeZone: 'UTC',
      async ask() {
        await as.onAsk?.();
        return as.answer ?? '';
      },
      readStdin: () => Promise.resolve('#!/bin/sh\n#SBATCH -p all --time=10\nsleep 600\n'),
    };
    const text =
      as.user === undefined ? this.server.kubeconfig() : await this.server.kubeconfigFor({ name: as.user });
    const config = await kubeconfigConfig({ text });
    const code = await run(words, {
      io,
      signal: AbortSignal.any([
        AbortSignal.timeout(120_000),
        ...(as.signal === undefined ? [] : [as.signal]),
      ]),
      config,
    });
    return { code, out, err };
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.server.stop();
    await this.slurm.stop();
  }

  async #createCluster(name: string, where: string): Promise<void> {
    await this.client.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-token`, namespace: where },
      stringData: { SLURM_JWT: this.slurm.token() },
    } as never);
    await this.client.create(clusters, {
      apiVersion: clusters.apiVersion,
      kind: 'Cluster',
      metadata: { name, namespace: where },
      spec: { server: this.slurm.server, tokenSecretRef: { name: `${name}-token` } },
    } as never);
  }

  /** Its Deployment and a lease that was renewed just now: no operator runs here. */
  async #createOperator(): Promise<void> {
    await this.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'slinky' },
    });
    const labels = {
      'app.kubernetes.io/name': 'slurm-operator',
      'app.kubernetes.io/component': 'operator',
      'app.kubernetes.io/part-of': 'slurm-operator',
    };
    await this.client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'slurm-operator', namespace: 'slinky', labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'manager', image: 'slurm-operator/operator:0.1.0' }] },
        },
      },
    } as never);
    await this.client.create(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'slurm-operator', namespace: 'slinky' },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 3_600, renewTime: microTime(Date.now()) },
    } as never);
  }

  /** From now on the lease was last renewed so long ago. */
  async renewLease(agoMs: number): Promise<void> {
    await this.client.mergePatch(
      leases,
      { namespace: 'slinky', name: 'slurm-operator' },
      { spec: { renewTime: microTime(Date.now() - agoMs) } },
    );
  }

  /** The operator has seen the newest spec of the NodeSet. */
  async observeNodeSet(status: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const ref = { namespace, name: 'gpu' };
    const { metadata } = await this.client.get(nodeSets, ref);
    const body = { status: { observedGeneration: metadata.generation, ...status } };
    await this.client.mergePatch(nodeSets, ref, body, { subresource: 'status' });
  }

  async #createWorker(name: string): Promise<void> {
    await this.client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        labels: { 'app.kubernetes.io/component': 'worker', 'nodeset.slinky.slurm.net/pod-hostname': name },
      },
      spec: { containers: [{ name: 'slurmd', image: 'slurmd:26.05' }] },
    } as never);
  }
}
