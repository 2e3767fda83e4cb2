import { mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '../process/wait-until.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** A directory of the same name in every cgroup hierarchy of the machine (one on cgroup v2, about ten on v1). */
export interface Cgroup {
  readonly paths: readonly string[];
  /** Moves a process into it. */
  add(pid: number): Promise<void>;
}

export async function createCgroup(record: SandboxRecord, name: string): Promise<Cgroup> {
  const paths = (await hierarchies()).map((mountPoint) => join(mountPoint, name));
  record.addCgroups(paths);
  for (const path of paths) {
    await mkdir(path, { recursive: true });
    // A v1 cpuset accepts no process before its CPUs and memory nodes are set.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const mine = await readFile(join(path, file), 'utf8').catch(() => undefined);
      if (mine?.trim() !== '') continue;
      const parents = (await readFile(join(path, '..', file), 'utf8').catch(() => '')).trim();
      if (parents !== '') await writeFile(join(path, file), parents);
    }
  }
  return {
    paths,
    async add(pid) {
      for (const path of paths) await writeFile(join(path, 'cgroup.procs'), String(pid));
    },
  };
}

/** Removes cgroups with all below them, after ending whatever still runs inside. */
export async function removeCgroups(paths: readonly string[]): Promise<void> {
  for (const path of paths) await removeTree(path);
}

async function removeTree(path: string): Promise<void> {
  if (!(await exists(path))) return;
  for (const entry of await readdir(path, { withFileTypes: true }))
    if (entry.isDirectory()) await removeTree(join(path, entry.name));
  await waitUntil(
    `cgroup ${path} to be empty`,
    async () => {
      for (const pid of (await readFile(join(path, 'cgroup.procs'), 'utf8').catch(() => '')).split('\n'))
        if (pid !== '') kill(Number(pid));
      return rmdir(path).then(
        () => true,
        async () => !(await exists(path)),
      );
    },
    { timeoutMs: 60_000, intervalMs: 20 },
  );
}

/** Where cgroup file systems are mounted. */
async function hierarchies(): Promise<string[]> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  return [
    ...new Set(
      mounts.filter(([, , type]) => type === 'cgroup' || type === 'cgroup2').map(([, point = '']) => point),
    ),
  ];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended already.
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
