/** Clusters that run as processes of their own: start one, give it orders, stop it, clear away what a dead one left. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { request } from 'node:http';
import { openCgroups } from '../agent/runtime/cgroups.ts';
import { LocalClusterError, type LocalClusterErrorCode, requireRoot } from '../errors.ts';
import {
  awaitEnd,
  type ClusterRecord,
  claimCluster,
  clusterPaths,
  findCluster,
  removeClusterDirectory,
  startTimeOf,
} from './cluster-directory.ts';

export interface UpOptions {
  readonly name: string;
  readonly nodes: number;
  readonly hollowNodes?: number;
  readonly port?: number;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly nodeGraceSeconds?: number;
  readonly progress: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** What the child process tells its parent. */
export type ServeMessage =
  | { readonly is: 'progress'; readonly line: string }
  | { readonly is: 'up' }
  | { readonly is: 'failed'; readonly code: LocalClusterErrorCode; readonly message: string };

export async function up(options: UpOptions): Promise<ClusterRecord> {
  requireRoot();
  const { name, progress } = options;
  const found = await findCluster(name);
  if (found.state === 'running') throw runningAlready(name, found.record?.url);
  if (found.state === 'stale') {
    progress(`cluster "${name}" ended without cleaning up; clearing away what it left`);
    await clearAway(name);
  }
  const paths = clusterPaths(name);
  const { pid } = process;
  const { kubeconfig, socket } = paths;
  // In our own name until the cluster's process writes its own.
  const claim = { name, pid, startTime: await startTimeOf(pid), url: 'starting', kubeconfig, socket };
  if (!(await claimCluster({ ...claim, nodes: options.nodes }))) throw runningAlready(name, 'starting');
  const log = openSync(paths.log, 'a');
  const child = fork(
    new URL('../serve-main.ts', import.meta.url),
    [JSON.stringify({ ...options, progress: undefined, signal: undefined })],
    {
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    },
  );
  closeSync(log);
  try {
    await new Promise<void>((resolve, reject) => {
      const interrupted = new LocalClusterError('StartFailed', 'the start was interrupted.');
      if (options.signal?.aborted === true) reject(interrupted);
      options.signal?.addEventListener('abort', () => reject(interrupted), { once: true });
      child.on('message', (message: ServeMessage) => {
        if (message.is === 'progress') progress(message.line);
        else if (message.is === 'up') resolve();
        else reject(new LocalClusterError(message.code, message.message));
      });
      child.once('exit', (code) =>
        reject(
          new LocalClusterError(
            'StartFailed',
            `the cluster's process ended with ${code ?? 'a signal'} before it was up; its log was ${paths.log}.`,
          ),
        ),
      );
    });
  } catch (error) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await clearAway(name);
    throw error;
  }
  child.disconnect();
  child.unref();
  const record = (await findCluster(name)).record;
  if (record === undefined)
    throw new LocalClusterError(
      'StartFailed',
      `cluster "${name}" is up but left no record in ${paths.directory}.`,
    );
  return record;
}

function runningAlready(name: string, url = ''): LocalClusterError {
  return new LocalClusterError(
    'ClusterRunning',
    `cluster "${name}" is running already (${url}): use it, stop it with \`localcluster down --name ${name}\`, or give another --name.`,
  );
}

export async function down(name: string, progress: (line: string) => void): Promise<void> {
  requireRoot();
  const found = await findCluster(name);
  if (found.state === 'none')
    throw new LocalClusterError(
      'ClusterMissing',
      `there is no cluster "${name}": \`localcluster status\` lists those that run.`,
    );
  if (found.state === 'running' && found.record !== undefined) {
    progress(`stopping cluster "${name}"`);
    await end(found.record);
  }
  await clearAway(name);
}

/** Comes back when the cluster's process is gone, not when it said that it would go: until then its network and mounts are there. */
async function end(record: ClusterRecord): Promise<void> {
  const obeyed = await order(record, '/stop', {}, 120_000).then(
    () => true,
    () => false,
  );
  if (obeyed && (await awaitEnd(record, 30_000))) return;
  try {
    process.kill(record.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  if (!(await awaitEnd(record, 60_000)))
    throw new LocalClusterError(
      'CommandFailed',
      `the process ${record.pid} of cluster "${record.name}" does not end; nothing of it was cleared away. Try again.`,
    );
}

/** Namespaces and links end with the process that held them; directories and control groups do not. */
async function clearAway(name: string): Promise<void> {
  await openCgroups().removeTree(`localcluster-${name}`);
  await removeClusterDirectory(name);
}

export async function runningCluster(name: string): Promise<ClusterRecord> {
  const found = await findCluster(name);
  if (found.state === 'running' && found.record !== undefined) return found.record;
  throw new LocalClusterError(
    found.state === 'stale' ? 'StaleState' : 'ClusterMissing',
    found.state === 'stale'
      ? `cluster "${name}" ended without cleaning up: \`localcluster down --name ${name}\` clears away what it left.`
      : `there is no cluster "${name}": start it with \`localcluster up --name ${name}\`.`,
  );
}

export function order<T>(record: ClusterRecord, path: string, body: object, timeoutMs = 120_000): Promise<T> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { socketPath: record.socket, path, method: 'POST', timeout: timeoutMs },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        response.on('end', () => {
          const value = JSON.parse(text) as T & { code: LocalClusterErrorCode; message: string };
          if (response.statusCode === 200) resolve(value);
          else reject(new LocalClusterError(value.code, value.message));
        });
      },
    );
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.once('error', (cause) =>
      reject(
        new LocalClusterError(
          'CommandFailed',
          `cluster "${record.name}" does not answer: ${cause.message}.`,
          { cause },
        ),
      ),
    );
    sent.end(JSON.stringify(body));
  });
}
