/**
 * `node images/src/operator/bundle-main.ts DIRECTORY PACKAGES`: writes everything of the operator's image that is ours
 * below a directory, for the Docker build. PACKAGES lists what Debian gave, as "name version architecture" lines.
 */
import { readFile } from 'node:fs/promises';
import { writeRootFiles } from '@slurm-operator/sandbox';
import { operatorFiles } from './bundle-programs.ts';
import { operatorVersion } from './operator-files.ts';

const [directory, list] = process.argv.slice(2);
if (directory === undefined || list === undefined) {
  console.error('usage: node images/src/operator/bundle-main.ts DIRECTORY PACKAGES');
  process.exit(2);
}
const packages = (await readFile(list, 'utf8'))
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [name = '', version = '', architecture = ''] = line.split(' ');
    return { name, version, architecture };
  });
await writeRootFiles(directory, await operatorFiles(packages, operatorVersion));
