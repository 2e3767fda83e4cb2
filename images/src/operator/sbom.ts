/** What is in the operator's image: Node, its libraries, and the npm packages in its bundles. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { UnpackedPackages } from '@slurm-operator/sandbox';
import { billOfMaterials, type Component, component, debianComponent } from '../bill-of-materials.ts';
import { nodeVersion } from './operator-files.ts';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** `inputs`: every source in any bundle. */
export function softwareBill(
  inputs: readonly string[],
  debian: UnpackedPackages['packages'],
  suite: string,
  version: string,
): string {
  const components = [
    component('platform', 'node', nodeVersion, `pkg:generic/node@${nodeVersion}`, 'MIT'),
    ...debian.map((deb) => debianComponent(deb, suite)),
    ...npmPackages(inputs),
  ];
  const purl = `pkg:generic/slurm-operator@${version}`;
  return billOfMaterials(component('application', 'slurm-operator', version, purl, 'Apache-2.0'), components);
}

/** Packages of others that a bundle holds something of. */
function npmPackages(inputs: readonly string[]): Component[] {
  const directories = new Set<string>();
  for (const input of inputs) {
    const match = /^(?<directory>.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match?.groups?.['directory'] !== undefined) directories.add(match.groups['directory']);
  }
  return [...directories].toSorted().map((directory) => {
    const { name, version, license } = JSON.parse(
      readFileSync(`${repository}${directory}/package.json`, 'utf8'),
    ) as { name: string; version: string; license?: string };
    const purl = `pkg:npm/${name.split('/').map(encodeURIComponent).join('/')}@${version}`;
    return component('library', name, version, purl, license);
  });
}
