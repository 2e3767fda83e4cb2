/** The control plane of a cluster: API server, controllers, scheduler, DNS and Service rules, in this process. */
import { join } from 'node:path';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  AlreadyExistsError,
  type ClusterConfig,
  createClient,
  type Log,
  Manager,
} from '@slurm-operator/kube';
import { parse } from 'yaml';
import { ApiLink } from '../agent/api-link.ts';
import { addControllers } from '../controllers/index.ts';
import { cachedZone } from '../dns/cached-zone.ts';
import { DnsServer } from '../dns/server.ts';
import { answerQuestion } from '../dns/zone.ts';
import { LocalClusterError } from '../errors.ts';
import { addHollowNodes } from '../hollow/hollow-nodes.ts';
import type { Toolbox } from '../machine/toolbox.ts';
import type { ClusterNetwork } from '../network/cluster-network.ts';
import { ServiceProxy } from '../network/service-proxy.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { controlPlaneObjects } from './control-plane-objects.ts';

const apiPort = 6443;

export interface ControlPlaneOptions {
  readonly directory: string;
  readonly port: number | undefined;
  readonly nodeGraceMs: number | undefined;
  readonly hollow:
    | { readonly count: number; readonly capacity: Readonly<Record<string, string>> }
    | undefined;
  readonly network: ClusterNetwork;
  readonly tools: Toolbox;
  readonly progress: (line: string) => void;
  readonly log: Log;
}

export interface ControlPlane {
  readonly server: ApiServer;
  readonly config: ClusterConfig;
  readonly manager: Manager;
  readonly proxy: ServiceProxy;
  /** Creates the hollow nodes, if any were requested. */
  registerHollowNodes(): Promise<void>;
}

/** What is started is put on the stack, so that it ends in reverse order, also when the start fails half way. */
export async function startControlPlane(
  stack: AsyncDisposableStack,
  { directory, port, nodeGraceMs, hollow, network, tools, progress, log }: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { plan } = network;
  const server = await startServer(port, plan.serviceRange, [plan.host, plan.kubernetesService]);
  stack.defer(() => server.stop());
  const podSide = await ApiLink.open(
    { host: '127.0.0.1', port: server.port },
    { host: plan.host, port: apiPort },
  );
  stack.defer(() => podSide.close());
  progress(`API server ${server.url}`);

  const config = configFor(server.url, server.kubeconfig());
  const manager = new Manager(config, {
    name: 'kube-controller-manager',
    log,
    gracePeriod: 2000,
    // The server is in this process and serves only this cluster.
    client: { rateLimit: false },
  });
  addControllers(manager, { volumes: join(directory, 'volumes'), ingress: plan.ingressAddress, nodeGraceMs });
  manager.add(new Scheduler(manager));
  const registerHollowNodes =
    hollow === undefined ? () => Promise.resolve() : addHollowNodes(manager, hollow);
  const zone = cachedZone(manager);
  const dns = await DnsServer.listen(plan.host, 0, (question) => answerQuestion(question, zone));
  stack.defer(() => dns.close());
  const proxy = new ServiceProxy(manager, tools, plan.podRange);
  stack.defer(() => proxy.close());
  stack.defer(runManager(manager, log));
  await createObjects(config, controlPlaneObjects(plan, { api: apiPort, dns: dns.port }));
  await proxy.add('gateway', { machine: network.gateway, redirects: [] });
  return { server, config, manager, proxy, registerHollowNodes };
}

/** Starts the manager; answers how it is stopped. */
function runManager(manager: Manager, log: Log): () => Promise<void> {
  const stopping = new AbortController();
  const managing = manager.start(stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) log.error({ err: error }, 'the control plane ended');
  });
  return async () => {
    stopping.abort();
    await managing;
  };
}

async function startServer(
  port: number | undefined,
  serviceNetwork: string,
  hosts: readonly string[],
): Promise<ApiServer> {
  try {
    return await startApiServer({
      ...(port === undefined ? {} : { port }),
      serviceNetwork,
      hosts: [...hosts, 'kubernetes.default.svc.cluster.local'],
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      throw new LocalClusterError(
        'PortInUse',
        `port ${port} is in use by another program: choose another with --port, or leave it out to get a free one.`,
        { cause: error },
      );
    throw error;
  }
}

async function createObjects(
  config: ClusterConfig,
  objects: ReturnType<typeof controlPlaneObjects>,
): Promise<void> {
  const client = createClient(config, { userAgent: 'localcluster', fieldManager: 'localcluster' });
  try {
    for (const { path, object } of objects)
      await client.json('POST', path, { body: object }).catch((error: unknown) => {
        if (!(error instanceof AlreadyExistsError)) throw error;
      });
  } finally {
    client.close();
  }
}

/** A client configuration from the text of a kubeconfig, aimed at another address of the same server. */
export function configFor(server: string, kubeconfig: string): ClusterConfig {
  const file = parse(kubeconfig) as {
    clusters: { cluster: { 'certificate-authority-data': string } }[];
    users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
  };
  const text = (data: string | undefined) => Buffer.from(data ?? '', 'base64').toString('utf8');
  const identity = {
    ca: text(file.clusters[0]?.cluster['certificate-authority-data']),
    cert: text(file.users[0]?.user['client-certificate-data']),
    key: text(file.users[0]?.user['client-key-data']),
  };
  return { server, namespace: 'default', identity: () => Promise.resolve(identity) };
}
