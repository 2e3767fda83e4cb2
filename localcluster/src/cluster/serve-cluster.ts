/** The process behind `localcluster up`: holds a cluster and takes orders over a socket until it is told to stop. */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { createLog } from '@slurm-operator/kube';
import { explain, LocalClusterError } from '../errors.ts';
import { clusterPaths, startTimeOf, writeRecord } from './cluster-directory.ts';
import { type LocalCluster, startLocalCluster } from './start-local-cluster.ts';

export interface ServeOptions {
  readonly name: string;
  readonly nodes: number;
  readonly hollowNodes: number;
  readonly port: number | undefined;
  readonly capacity: Readonly<Record<string, string>>;
  readonly nodeGraceMs: number | undefined;
  readonly progress: (line: string) => void;
}

/** Resolves when the cluster is up; the process then lives until it is told to stop. */
export async function serveCluster(options: ServeOptions): Promise<void> {
  const paths = clusterPaths(options.name);
  await mkdir(paths.directory, { recursive: true, mode: 0o711 });
  const record = {
    name: options.name,
    pid: process.pid,
    startTime: await startTimeOf(process.pid),
    url: 'starting',
    kubeconfig: paths.kubeconfig,
    socket: paths.socket,
    nodes: options.nodes,
  };
  // Before anything else: the directory was claimed by the process that started this one, which may end.
  await writeRecord(record);
  const cluster = await startLocalCluster({
    name: options.name,
    nodes: options.nodes,
    hollowNodes: options.hollowNodes,
    directory: paths.data,
    capacity: options.capacity,
    progress: options.progress,
    log: createLog(`localcluster-${options.name}`),
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.nodeGraceMs === undefined ? {} : { nodeGraceMs: options.nodeGraceMs }),
  });
  let stopping: Promise<void> | undefined;
  const stop = () =>
    (stopping ??= (async () => {
      await cluster.stop();
      server.close();
      await rm(paths.directory, { recursive: true, force: true });
    })());
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    request.on('end', () => void respond(request.url ?? '/', text, response));
  });
  async function respond(path: string, text: string, response: ServerResponse): Promise<void> {
    try {
      const body = await answer(cluster, path, text, stop);
      response.end(JSON.stringify(body), () => {
        if (path === '/stop') process.exit(0);
      });
    } catch (error) {
      response.statusCode = 400;
      const code = error instanceof LocalClusterError ? error.code : 'CommandFailed';
      response.end(JSON.stringify({ code, message: explain(error) }));
    }
  }
  try {
    await rm(paths.socket, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(paths.socket, resolve);
    });
    await chmod(paths.socket, 0o600);
    await writeFile(paths.kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
    await writeRecord({ ...record, url: cluster.server.url });
  } catch (error) {
    await stop();
    throw error;
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => void stop().then(() => process.exit(0)));
}

async function answer(
  cluster: LocalCluster,
  path: string,
  text: string,
  stop: () => Promise<void>,
): Promise<unknown> {
  const body = (text === '' ? {} : JSON.parse(text)) as { path?: string; node?: string };
  switch (path) {
    case '/status':
      return {
        name: cluster.name,
        url: cluster.server.url,
        nodes: cluster.nodes.map((node) => ({
          name: node.name,
          address: node.address,
          state: node.state,
          pods: node.agent?.workers.length ?? 0,
        })),
        images: cluster.images.list().flatMap((image) => image.names),
        rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
      };
    case '/load-image':
      return { names: await cluster.loadImage(body.path ?? '') };
    case '/node/stop':
      await cluster.node(body.node ?? '').stop();
      return {};
    case '/node/start':
      await cluster.node(body.node ?? '').start();
      return {};
    case '/node/cut':
      await cluster.node(body.node ?? '').cut();
      return {};
    case '/stop':
      await stop();
      return {};
    default:
      throw new LocalClusterError('BadArgument', `there is no order "${path}".`);
  }
}
