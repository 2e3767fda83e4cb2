/** `make clean`: ends whatever still runs in a sandbox, undoes what it changed on the machine, removes the cache directory. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { down, listClusters } from '@slurm-operator/localcluster';
import { cacheDirectory, cleanSandboxes } from '@slurm-operator/sandbox';

for (const name of await listClusters()) {
  await down(name, () => {});
  console.log(`ended cluster ${name}`);
}
for (const name of await cleanSandboxes()) console.log(`ended sandbox ${name}`);
const cache = cacheDirectory();
if (existsSync(cache)) {
  await rm(cache, { recursive: true, force: true });
  console.log(`removed ${cache}`);
}
