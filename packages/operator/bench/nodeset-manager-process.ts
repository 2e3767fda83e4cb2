/**
 * The operator of the benchmark: the connection controller and the NodeSet controller, as the manager program runs them, in
 * a process of their own so that what they cost can be told from what the cluster costs. Driven over the IPC channel.
 */
import { createManager, kubeconfigConfig, shutdownSignal } from '@slurm-operator/kube';
import { setupCache } from '../src/cached-objects.ts';
import { ConnectionPool } from '../src/connection/pool.ts';
import { setupClusters } from '../src/connection/setup.ts';
import { setupNodeSets } from '../src/nodeset/setup.ts';

/** What it has used up since it was started. */
export interface Usage {
  readonly kind: 'usage';
  readonly at: number;
  readonly cpuSeconds: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly kubeRequests: number;
  readonly kubeWrites: number;
}

const [kubeconfig = '', image = ''] = process.argv.slice(2);
const manager = await createManager({
  name: 'slurm-operator',
  config: await kubeconfigConfig({ files: [kubeconfig] }),
  client: { rateLimit: false },
});
const pool = new ConnectionPool(manager.clock);
setupCache(manager.cache);
setupClusters(manager, pool, { workers: 4, clusterDomain: 'cluster.local', reachBy: 'address' });
setupNodeSets(manager, pool.gateways, {
  workers: 4,
  slurmChanges: pool.changes,
  clusterDomain: 'cluster.local',
  defaultImage: image,
  propagatedConditions: new Set(),
  parallel: 16,
});

process.on('message', () => void tellUsage());
process.on('disconnect', () => process.exit(0));
await manager.start(shutdownSignal());

async function tellUsage(): Promise<void> {
  const counter = await manager.metrics.registry.getSingleMetric('rest_client_requests_total')?.get();
  let kubeRequests = 0;
  let kubeWrites = 0;
  for (const { labels, value } of counter?.values ?? []) {
    kubeRequests += value;
    if (labels['method'] !== 'GET') kubeWrites += value;
  }
  const { user, system } = process.cpuUsage();
  const usage: Usage = {
    kind: 'usage',
    at: Date.now(),
    cpuSeconds: (user + system) / 1e6,
    rssMb: process.memoryUsage.rss() / 2 ** 20,
    heapMb: process.memoryUsage().heapUsed / 2 ** 20,
    kubeRequests,
    kubeWrites,
  };
  process.send?.(usage);
}
