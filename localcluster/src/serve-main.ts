/** Started by `localcluster up` as a process of its own; tells its parent how it goes. */
import type { ServeMessage, UpOptions } from './cluster/control.ts';
import { serveCluster } from './cluster/serve-cluster.ts';
import { explain, LocalClusterError } from './errors.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as UpOptions;
const tell = (message: ServeMessage) => {
  if (process.connected) process.send?.(message);
};

try {
  await serveCluster({
    name: options.name,
    nodes: options.nodes,
    hollowNodes: options.hollowNodes ?? 0,
    port: options.port,
    capacity: options.capacity ?? {},
    nodeGraceMs: options.nodeGraceSeconds === undefined ? undefined : options.nodeGraceSeconds * 1000,
    progress: (line) => tell({ is: 'progress', line }),
  });
  tell({ is: 'up' });
} catch (error) {
  tell({
    is: 'failed',
    code: error instanceof LocalClusterError ? error.code : 'StartFailed',
    message: explain(error),
  });
  process.exitCode = 1;
  // The message must be out before the channel closes.
  setTimeout(() => process.exit(1), 100);
}
