/** Where a running cluster is written down, so that later commands find it and leftovers are recognised. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { LocalClusterError } from '../errors.ts';

export interface ClusterRecord {
  readonly name: string;
  readonly pid: number;
  /** When the process began, in the kernel's own count: a number reused by another program is not ours. */
  readonly startTime: string;
  readonly url: string;
  readonly kubeconfig: string;
  readonly socket: string;
  readonly nodes: number;
}

export const stateDirectory = (): string =>
  join(process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state'), 'slurm-operator', 'localcluster');

export interface ClusterPaths {
  readonly directory: string;
  readonly record: string;
  readonly kubeconfig: string;
  readonly socket: string;
  readonly log: string;
  /** Pods, volumes and logs; gone when the cluster stops. */
  readonly data: string;
}

/** Every path of a cluster is made from its name: no other name may come that far. */
export function checkClusterName(name: string): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(name))
    throw new LocalClusterError(
      'BadArgument',
      `name is "${name}": use up to 32 small letters, digits and dashes.`,
    );
}

export function clusterPaths(name: string): ClusterPaths {
  checkClusterName(name);
  const directory = join(stateDirectory(), name);
  return {
    directory,
    record: join(directory, 'cluster.json'),
    kubeconfig: join(directory, 'kubeconfig'),
    socket: join(directory, 'control.sock'),
    log: join(directory, 'log'),
    data: join(directory, 'data'),
  };
}

/** No cluster can have such a name. */
const draftPrefix = '.draft-';

export async function writeRecord(record: ClusterRecord): Promise<void> {
  const { directory, record: path } = clusterPaths(record.name);
  await mkdir(directory, { recursive: true, mode: 0o711 });
  await writeFile(path, JSON.stringify(record));
}

/**
 * Claims the cluster's directory, the record already in it, for the first caller: false if it is claimed. There is no
 * moment in which a cluster that starts could be taken for the leftovers of one that ended.
 */
export async function claimCluster(record: ClusterRecord): Promise<boolean> {
  await mkdir(stateDirectory(), { recursive: true, mode: 0o711 });
  const draft = await mkdtemp(join(stateDirectory(), draftPrefix));
  try {
    await chmod(draft, 0o711);
    await writeFile(join(draft, basename(clusterPaths(record.name).record)), JSON.stringify(record));
    await rename(draft, clusterPaths(record.name).directory);
    return true;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

export type ClusterState = 'none' | 'running' | 'stale';

/** A record whose process is gone is stale: the cluster ended without saying goodbye. */
export async function findCluster(name: string): Promise<{ state: ClusterState; record?: ClusterRecord }> {
  const paths = clusterPaths(name);
  const text = await readFile(paths.record, 'utf8').catch(() => undefined);
  if (text === undefined) {
    const entries = await readdir(paths.directory).catch(() => []);
    return { state: entries.length === 0 ? 'none' : 'stale' };
  }
  try {
    const record = JSON.parse(text) as ClusterRecord;
    const alive = (await startTimeOf(record.pid)) === record.startTime;
    return { state: alive ? 'running' : 'stale', record };
  } catch {
    return { state: 'stale' };
  }
}

export async function listClusters(): Promise<string[]> {
  const names = await readdir(stateDirectory()).catch((): string[] => []);
  return names.filter((name) => !name.startsWith('.')).toSorted((a, b) => a.localeCompare(b));
}

export async function removeClusterDirectory(name: string): Promise<void> {
  await rm(clusterPaths(name).directory, { recursive: true, force: true });
}

/** The 22nd field of /proc/PID/stat; empty when there is no such process. */
export async function startTimeOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** Whether that process ended before the deadline. A zombie has ended; a later process with the same pid is another one. */
export async function awaitEnd(
  { pid, startTime }: Pick<ClusterRecord, 'pid' | 'startTime'>,
  timeoutMs: number,
): Promise<boolean> {
  for (const deadline = performance.now() + timeoutMs; ; await delay(50)) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [state = 'X', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // The 22nd field of the line is the 19th after the state.
    if (['X', 'Z', ''].includes(state) || fields[18] !== startTime) return true;
    if (performance.now() > deadline) return false;
  }
}
