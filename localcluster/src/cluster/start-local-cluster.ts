/** A whole cluster in this process: API server, controllers, scheduler, DNS, Service rules and N nodes. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  AlreadyExistsError,
  type ClusterConfig,
  createClient,
  type Log,
  Manager,
  silent,
} from '@slurm-operator/kube';
import { parse } from 'yaml';
import { ApiLink } from '../agent/api-link.ts';
import { ImageStore } from '../agent/images/image-store.ts';
import { openCgroups } from '../agent/runtime/cgroups.ts';
import { addControllers } from '../controllers/index.ts';
import { cachedZone } from '../dns/cached-zone.ts';
import { DnsServer } from '../dns/server.ts';
import { answerQuestion } from '../dns/zone.ts';
import { LocalClusterError } from '../errors.ts';
import { addHollowNodes } from '../hollow/hollow-nodes.ts';
import { openToolbox, type Toolbox } from '../machine/toolbox.ts';
import { maxNodes, planAddresses } from '../network/addresses.ts';
import { ClusterNetwork } from '../network/cluster-network.ts';
import { freeBlock } from '../network/free-block.ts';
import { ServiceProxy } from '../network/service-proxy.ts';
import { services } from '../objects/objects.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { checkClusterName } from './cluster-directory.ts';
import { controlPlaneObjects } from './control-plane-objects.ts';
import { ClusterNode } from './node.ts';
import { requireRoot } from './require-root.ts';

export interface LocalClusterOptions {
  /** Names the cluster on this machine. @default "local" */
  readonly name?: string;
  /** @default 3 */
  readonly nodes?: number;
  /** Nodes that are only objects and whose pods are only reported Running, for scale tests. @default 0 */
  readonly hollowNodes?: number;
  /** Where pods, volumes and logs of this cluster live; removed when it stops. */
  readonly directory: string;
  /** What each node says it has. @default 8 CPUs, 16 GiB, 110 pods */
  readonly capacity?: Readonly<Record<string, string>>;
  /** Labels of all nodes, or of one by its number. */
  readonly labels?: (index: number) => Readonly<Record<string, string>>;
  /** Port of the API server on loopback. @default a free one */
  readonly port?: number;
  /** Image tars to load before the first pod. */
  readonly images?: readonly string[];
  /** The silence after which a node counts as lost. @default 50 s, as in a real cluster */
  readonly nodeGraceMs?: number;
  readonly progress?: (line: string) => void;
  readonly log?: Log;
}

export interface LocalCluster {
  readonly name: string;
  readonly server: ApiServer;
  readonly config: ClusterConfig;
  readonly manager: Manager;
  readonly nodes: readonly ClusterNode[];
  readonly images: ImageStore;
  readonly block: number;
  kubeconfig(): string;
  node(name: string): ClusterNode;
  /** Loads an image tar for all nodes; answers the names in it. */
  loadImage(path: string): Promise<string[]>;
  stop(): Promise<void>;
}

const defaultCapacity = { cpu: '8', memory: '16Gi', pods: '110', 'ephemeral-storage': '50Gi' };
const apiPort = 6443;

export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  requireRoot();
  const name = options.name ?? 'local';
  const count = options.nodes ?? 3;
  if (!Number.isInteger(count) || count < 0 || count > maxNodes)
    throw new LocalClusterError(
      'BadArgument',
      `nodes is ${count}: give a whole number from 0 to ${maxNodes}.`,
    );
  checkClusterName(name);
  const log = options.log ?? silent;
  const progress = options.progress ?? (() => {});
  // Undone in reverse, whether the start fails half way or the cluster is stopped.
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const tools = await openToolbox(progress);
    await mkdir(options.directory, { recursive: true, mode: 0o711 });
    const cgroups = openCgroups();
    undo.push(() => rm(options.directory, { recursive: true, force: true }));
    undo.push(() => cgroups.removeTree(`localcluster-${name}`));
    const images = new ImageStore();

    const network = await createNetwork(tools);
    undo.push(() => network.destroy());
    const { plan } = network;
    progress(`network ${plan.clusterRange}`);

    const server = await startServer(options.port, plan.serviceRange, [plan.host, plan.kubernetesService]);
    undo.push(() => server.stop());
    const podSide = await ApiLink.open(
      { host: '127.0.0.1', port: server.port },
      { host: plan.host, port: apiPort },
    );
    undo.push(() => podSide.close());
    progress(`API server ${server.url}`);

    const config = configFor(server.url, server.kubeconfig());
    const manager = new Manager(config, {
      name: 'kube-controller-manager',
      log,
      gracePeriod: 2000,
      // The server is ours alone, in this very process: nobody has to be spared.
      client: { rateLimit: false },
    });
    addControllers(manager, {
      volumes: join(options.directory, 'volumes'),
      ingress: plan.ingressAddress,
      nodeGraceMs: options.nodeGraceMs,
    });
    const scheduler = new Scheduler(manager);
    manager.add(scheduler);
    const capacity = { ...defaultCapacity, ...options.capacity };
    const registerHollow =
      options.hollowNodes === undefined || options.hollowNodes === 0
        ? undefined
        : addHollowNodes(manager, { count: options.hollowNodes, capacity });
    const zone = cachedZone(manager);
    const dns = await DnsServer.listen(plan.host, 0, (question) => answerQuestion(question, zone));
    undo.push(() => dns.close());
    const proxy = new ServiceProxy(manager, tools, plan.podRange);
    undo.push(() => proxy.close());

    const stopping = new AbortController();
    const managing = manager.start(stopping.signal).catch((error: unknown) => {
      if (!stopping.signal.aborted) log.error({ err: error }, 'the control plane ended');
    });
    undo.push(async () => {
      stopping.abort();
      await managing;
    });
    await createObjects(config, controlPlaneObjects(plan, { api: apiPort, dns: dns.port }));
    await proxy.add('gateway', { machine: network.gateway, redirects: [] });
    for (const path of options.images ?? []) progress(`image ${(await images.load(path)).join(', ')}`);

    const nodes: ClusterNode[] = [];
    undo.push(() => Promise.all(nodes.map((node) => node.stop())));
    for (let index = 0; index < count; index++) {
      const nodeName = `${name}-node-${index + 1}`;
      const nodeConfig = await server.kubeconfigFor({
        name: `system:node:${nodeName}`,
        groups: ['system:nodes', 'system:masters'],
      });
      nodes.push(
        new ClusterNode({
          index,
          name: nodeName,
          clusterName: name,
          directory: join(options.directory, 'nodes'),
          network,
          proxy,
          tools,
          cgroups,
          images,
          services: () => manager.cache.list(services),
          capacity,
          labels: options.labels?.(index) ?? {},
          apiServer: { host: '127.0.0.1', port: server.port },
          credentials: (url) => configFor(url, nodeConfig),
          serving: (hosts) => server.certificateFor(hosts),
          peers: () => nodes,
          // A node that is believed in for less time must speak more often.
          heartbeatMs:
            options.nodeGraceMs === undefined ? undefined : Math.min(10_000, options.nodeGraceMs / 5),
          log,
        }),
      );
    }
    proxy.setNodeAddresses(nodes.map((node) => node.address));
    for (const node of nodes) {
      await node.start();
      progress(`node ${node.name} ${node.address}`);
    }

    if (registerHollow !== undefined) {
      await registerHollow();
      progress(`${options.hollowNodes} hollow nodes`);
    }

    return {
      name,
      server,
      config,
      manager,
      nodes,
      images,
      block: plan.block,
      kubeconfig: () => server.kubeconfig(),
      node(wanted) {
        const found = nodes.find((node) => node.name === wanted || String(node.index + 1) === wanted);
        if (found === undefined)
          throw new LocalClusterError(
            'NoSuchNode',
            `there is no node "${wanted}"; there is: ${nodes.map((node) => node.name).join(', ') || 'none'}.`,
          );
        return found;
      },
      loadImage: (path) => images.load(path),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Clusters that start at the same moment see the same free block; all but one take the next. */
async function createNetwork(tools: Toolbox): Promise<ClusterNetwork> {
  for (const taken = new Set<number>(); ; ) {
    const plan = planAddresses(await freeBlock(tools, taken));
    try {
      return await ClusterNetwork.create(plan, tools);
    } catch (error) {
      if (!(error instanceof LocalClusterError && error.code === 'NetworkTaken')) throw error;
      taken.add(plan.block);
    }
  }
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

/** A client configuration from the text of a kubeconfig, aimed at another address of the same server. */
function configFor(server: string, kubeconfig: string): ClusterConfig {
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
