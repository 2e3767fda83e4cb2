/** The control groups of a cluster's containers, on machines with cgroup v1 and v2 alike. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const mount = '/sys/fs/cgroup';

export interface Cgroups {
  readonly version: 1 | 2;
  /** How often the kernel killed something in the group for lack of memory. */
  oomKills(path: string): Promise<number>;
  /** Removes the directories of a group and of all below it, in every hierarchy. They must be empty of processes. */
  removeTree(path: string): Promise<void>;
}

export function openCgroups(): Cgroups {
  const version = existsSync(join(mount, 'cgroup.controllers')) ? 2 : 1;
  return {
    version,
    async oomKills(path) {
      const file =
        version === 1
          ? join(mount, 'memory', path, 'memory.oom_control')
          : join(mount, path, 'memory.events');
      const text = await readFile(file, 'utf8').catch(() => '');
      return Number(/^oom_kill (\d+)/m.exec(text)?.[1] ?? '0');
    },
    async removeTree(path) {
      const roots =
        version === 2 ? [mount] : (await readdir(mount).catch(() => [])).map((name) => join(mount, name));
      for (const root of roots) await removeEmpty(join(root, path));
    },
  };
}

async function removeEmpty(directory: string): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return;
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(directory, entry.name));
  // A killed process is a member of its group until the kernel is done with it, a moment later.
  for (let attempt = 0; attempt < 40; attempt++) {
    const removed = await rmdir(directory).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'EBUSY',
    );
    if (removed) return;
    await delay(50);
  }
}
