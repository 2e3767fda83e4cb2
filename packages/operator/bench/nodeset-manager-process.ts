/**
 * The operator of the benchmark: what the manager program runs, from the same flags, less the controller of Controllers (it would
 * give the simulated Slurm a StatefulSet). In a process of its own, so that what it costs can be told from what the cluster costs.
 * Driven over the IPC channel.
 */
import { readFileSync } from 'node:fs';
import { shutdownSignal } from '@slurm-operator/kube';
import { setupAccountings } from '../src/kinds/accounting/setup.ts';
import { setupClusters } from '../src/kinds/cluster/setup.ts';
import { setupLoginSets } from '../src/kinds/loginset/setup.ts';
import { setupNodeSets } from '../src/kinds/nodeset/setup.ts';
import { setupRestApis } from '../src/kinds/restapi/setup.ts';
import { setupTokens } from '../src/kinds/token/setup.ts';
import { setupCache } from '../src/programs/cached-objects.ts';
import { managerFlags } from '../src/programs/manager-flags.ts';
import { managerOf } from '../src/programs/manager-of.ts';
import { exposeObjects } from '../src/programs/object-metrics.ts';
import { ConnectionPool } from '../src/slurm-connection/pool.ts';

/** What it has used up since it was started. */
export interface Usage {
  readonly kind: 'usage';
  readonly at: number;
  readonly cpuSeconds: number;
  /** How long its main thread was ready to run and another had the processor. */
  readonly cpuWaitSeconds: number;
  readonly rssMb: number;
  readonly heapMb: number;
  readonly heapTotalMb: number;
  readonly buffersMb: number;
  readonly kubeRequests: number;
  readonly kubeWrites: number;
}

const flags = managerFlags(process.argv.slice(2), process.env);
if ('usage' in flags) throw new Error('the operator of the benchmark was asked for help');
const { manager } = await managerOf({ name: 'slurm-operator' }, flags);
const pool = new ConnectionPool(manager.clock);
setupCache(manager.cache);
setupClusters(manager, pool, { ...flags, workers: flags.workers.slurmclient });
setupRestApis(manager, flags, { workers: flags.workers.restapi });
setupAccountings(manager, flags, { workers: flags.workers.accounting });
setupLoginSets(manager, flags, { workers: flags.workers.loginset });
setupTokens(manager, { workers: flags.workers.token });
setupNodeSets(manager, pool.gateways, {
  workers: flags.workers.nodeset,
  slurmChanges: pool.changes,
  clusterDomain: flags.clusterDomain,
  defaultImage: flags.images.slurmd,
  propagatedConditions: flags.propagatedConditions,
  nodeEvents: true,
  parallel: flags.nodeSetParallel,
});
exposeObjects(manager.cache, manager.metrics.registry);

process.on('message', () => void tellUsage());
process.on('disconnect', () => process.exit(0));
await manager.start(shutdownSignal());
await pool.close();
process.disconnect();

async function tellUsage(): Promise<void> {
  const counter = await manager.metrics.registry.getSingleMetric('rest_client_requests_total')?.get();
  let kubeRequests = 0;
  let kubeWrites = 0;
  for (const { labels, value } of counter?.values ?? []) {
    kubeRequests += value;
    if (labels['method'] !== 'GET') kubeWrites += value;
  }
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, heapTotal, arrayBuffers } = process.memoryUsage();
  const usage: Usage = {
    kind: 'usage',
    at: Date.now(),
    cpuSeconds: (user + system) / 1e6,
    cpuWaitSeconds: Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e9,
    rssMb: rss / 2 ** 20,
    heapMb: heapUsed / 2 ** 20,
    heapTotalMb: heapTotal / 2 ** 20,
    buffersMb: arrayBuffers / 2 ** 20,
    kubeRequests,
    kubeWrites,
  };
  process.send?.(usage);
}
