/** The list of everything in an image, as CycloneDX: for scanners, and for people who ask. */
import { createHash } from 'node:crypto';
import type { UnpackedPackages } from '@slurm-operator/sandbox';

export interface Component {
  readonly type: 'application' | 'container' | 'library' | 'platform';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license: { readonly name: string } }[];
}

/** The same components give the same text: no date, no random serial number. */
export function billOfMaterials(subject: Component, components: readonly Component[]): string {
  const serial = createHash('sha256').update(JSON.stringify(components)).digest('hex');
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuid(serial)}`,
    version: 1,
    metadata: { component: subject },
    components,
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

export function debianComponent(
  { name, version, architecture }: UnpackedPackages['packages'][number],
  suite: string,
): Component {
  return component(
    'library',
    name,
    version,
    `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${suite}`,
  );
}

export function component(
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
