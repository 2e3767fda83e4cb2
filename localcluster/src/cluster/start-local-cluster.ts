/** A whole cluster in this process: the control plane and N nodes. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiServer } from '@slurm-operator/apiserver';
import { type ClusterConfig, type Log, type Manager, silent } from '@slurm-operator/kube';
import { ImageStore } from '../agent/images/image-store.ts';
import { openCgroups } from '../agent/runtime/cgroups.ts';
import { LocalClusterError, requireRoot } from '../errors.ts';
import { openToolbox, type Toolbox } from '../machine/toolbox.ts';
import { maxNodes, planAddresses } from '../network/addresses.ts';
import { ClusterNetwork, freeBlock } from '../network/cluster-network.ts';
import { services } from '../objects/objects.ts';
import { checkClusterName } from './cluster-directory.ts';
import { type ControlPlane, configFor, startControlPlane } from './control-plane.ts';
import { ClusterNode } from './node.ts';

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

export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  requireRoot();
  const { name = 'local', nodes: count = 3, hollowNodes = 0, log = silent, progress = () => {} } = options;
  if (!Number.isInteger(count) || count < 0 || count > maxNodes)
    throw new LocalClusterError(
      'BadArgument',
      `nodes is ${count}: give a whole number from 0 to ${maxNodes}.`,
    );
  checkClusterName(name);
  const capacity = { ...defaultCapacity, ...options.capacity };
  // Undone in reverse, whether the start fails half way or the cluster is stopped.
  const stack = new AsyncDisposableStack();
  try {
    const tools = await openToolbox(progress);
    await mkdir(options.directory, { recursive: true, mode: 0o711 });
    const cgroups = openCgroups();
    stack.defer(() => rm(options.directory, { recursive: true, force: true }));
    stack.defer(() => cgroups.removeTree(`localcluster-${name}`));
    const network = await createNetwork(tools);
    stack.defer(() => network.destroy());
    progress(`network ${network.plan.clusterRange}`);
    const plane = await startControlPlane(stack, {
      directory: options.directory,
      port: options.port,
      nodeGraceMs: options.nodeGraceMs,
      hollow: hollowNodes === 0 ? undefined : { count: hollowNodes, capacity },
      network,
      tools,
      progress,
      log,
    });
    const images = new ImageStore();
    for (const path of options.images ?? []) progress(`image ${(await images.load(path)).join(', ')}`);

    const nodes: ClusterNode[] = [];
    stack.defer(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
    for (let index = 0; index < count; index++)
      nodes.push(
        await createNode(plane, {
          index,
          clusterName: name,
          directory: join(options.directory, 'nodes'),
          network,
          tools,
          cgroups,
          images,
          capacity,
          labels: options.labels?.(index) ?? {},
          peers: () => nodes,
          // A node with a short grace period must send heartbeats more often.
          heartbeatMs:
            options.nodeGraceMs === undefined ? undefined : Math.min(10_000, options.nodeGraceMs / 5),
          log,
        }),
      );
    plane.proxy.setNodeAddresses(nodes.map((node) => node.address));
    for (const node of nodes) {
      await node.start();
      progress(`node ${node.name} ${node.address}`);
    }
    await plane.registerHollowNodes();
    if (hollowNodes > 0) progress(`${hollowNodes} hollow nodes`);
    return runningCluster(name, plane, { nodes, images, block: network.plan.block, stack });
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

type NodeOptions = Omit<
  ConstructorParameters<typeof ClusterNode>[0],
  'name' | 'proxy' | 'services' | 'apiServer' | 'credentials' | 'serving'
>;

/** A node with credentials of its own. */
async function createNode(
  { server, manager, proxy }: ControlPlane,
  options: NodeOptions,
): Promise<ClusterNode> {
  const name = `${options.clusterName}-node-${options.index + 1}`;
  const kubeconfig = await server.kubeconfigFor({
    name: `system:node:${name}`,
    groups: ['system:nodes', 'system:masters'],
  });
  return new ClusterNode({
    ...options,
    name,
    proxy,
    services: () => manager.cache.list(services),
    apiServer: { host: '127.0.0.1', port: server.port },
    credentials: (url) => configFor(url, kubeconfig),
    serving: (hosts) => server.certificateFor(hosts),
  });
}

function runningCluster(
  name: string,
  { server, config, manager }: ControlPlane,
  parts: {
    readonly nodes: readonly ClusterNode[];
    readonly images: ImageStore;
    readonly block: number;
    readonly stack: AsyncDisposableStack;
  },
): LocalCluster {
  const { nodes, images, block, stack } = parts;
  return {
    name,
    server,
    config,
    manager,
    nodes,
    images,
    block,
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
    stop: () => stack.disposeAsync(),
  };
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
