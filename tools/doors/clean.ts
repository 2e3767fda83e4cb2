/**
 * `make clean`: ends local clusters and sandboxes, undoes what they changed on the machine, and removes what the doors
 * keep outside the checkout.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { down, listClusters, stateDirectory } from '@slurm-operator/localcluster';
import { cacheDirectory, cleanSandboxes } from '@slurm-operator/sandbox';

for (const name of await listClusters()) {
  await down(name, () => {});
  console.log(`ended cluster ${name}`);
}
for (const name of await cleanSandboxes()) console.log(`ended sandbox ${name}`);
for (const directory of [dirname(stateDirectory()), cacheDirectory()]) {
  if (!existsSync(directory)) continue;
  await rm(directory, { recursive: true, force: true });
  console.log(`removed ${directory}`);
}
