/**
 * `make clean`: ends local clusters and sandboxes, undoes what they changed on the machine, and removes what the make targets
 * keep outside the checkout.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { down, listClusters, stateDirectory } from '@slurm-operator/localcluster';
import { abandonedScratch, cacheDirectory, cleanSandboxes } from '@slurm-operator/sandbox';

for (const name of await listClusters()) {
  await down(name, () => {});
  console.log(`ended cluster ${name}`);
}
for (const name of await cleanSandboxes()) console.log(`ended sandbox ${name}`);
// What a cluster that was killed had its processes in; those with a process inside stay, because they are in use.
for (const group of globSync('/sys/fs/cgroup/{,*/}localcluster-*'))
  if (globSync(`${group}/**/cgroup.procs`).every((list) => readFileSync(list, 'utf8') === ''))
    await removeEmpty(group);
for (const directory of [dirname(stateDirectory()), cacheDirectory(), ...abandonedScratch()]) {
  if (!existsSync(directory)) continue;
  await rm(directory, { recursive: true, force: true });
  console.log(`removed ${directory}`);
}

async function removeEmpty(group: string): Promise<void> {
  for (const entry of await readdir(group, { withFileTypes: true }).catch(() => []))
    if (entry.isDirectory()) await removeEmpty(join(group, entry.name));
  await rmdir(group).catch(() => {});
}
