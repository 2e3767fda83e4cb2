/** The list of everything in the operator's image, as CycloneDX: for scanners, and for people who ask. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { UnpackedPackages } from '@slurm-operator/sandbox';
import { nodeVersion, operatorVersion } from './operator-files.ts';

interface Component {
  readonly type: 'application' | 'library' | 'platform';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license: { readonly name: string } }[];
}

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** `inputs`: every source in any bundle. The same image gives the same list: no date, no random serial number. */
export function softwareBill(
  inputs: readonly string[],
  debian: UnpackedPackages['packages'],
  suite: string,
): string {
  const components = [
    component('platform', 'node', nodeVersion, `pkg:generic/node@${nodeVersion}`, 'MIT'),
    ...debian.map(({ name, version, architecture }) =>
      component(
        'library',
        name,
        version,
        `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${suite}`,
      ),
    ),
    ...npmPackages(inputs),
  ];
  const serial = createHash('sha256').update(JSON.stringify(components)).digest('hex');
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuid(serial)}`,
    version: 1,
    metadata: {
      component: component(
        'application',
        'slurm-operator',
        operatorVersion,
        `pkg:generic/slurm-operator@${operatorVersion}`,
        'Apache-2.0',
      ),
    },
    components,
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
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

function component(
  type: Component['type'],
  name: string,
  version: string,
  purl: string,
  license?: string,
): Component {
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license === undefined ? {} : { licenses: [{ license: { name: license } }] }),
  };
}

/** The form of a version 8 UUID, of a digest. */
function uuid(digest: string): string {
  const part = (from: number, to: number) => digest.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-8${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`;
}
