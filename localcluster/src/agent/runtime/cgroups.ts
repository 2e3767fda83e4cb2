/** The control groups of a cluster's containers, on machines with cgroup v1 and v2 alike. */
import { readFileSync } from 'node:fs';
import { readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cgroupLayout, oomKills } from './cgroup-layout.ts';

export interface Cgroups {
  readonly version: 1 | 2;
  /** How often the kernel killed something in the group for lack of memory. */
  oomKills(path: string): Promise<number>;
  /** Removes the directories of a group and of all below it, in every hierarchy. They must be empty of processes. */
  removeTree(path: string): Promise<void>;
}

export function openCgroups(): Cgroups {
  const { version, roots, oomFile } = cgroupLayout(readFileSync('/proc/self/mounts', 'utf8'));
  return {
    version,
    async oomKills(path) {
      const file = oomFile(path);
      return file === undefined ? 0 : oomKills(await readFile(file, 'utf8').catch(() => ''));
    },
    async removeTree(path) {
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
