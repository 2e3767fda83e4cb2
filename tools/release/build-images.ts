/** All images of a release: an OCI layout with every architecture, and a list of contents for each. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  billOfMaterials,
  buildImage,
  buildOperatorImage,
  component,
  debianComponent,
  type ImageName,
  operatorSbomPath,
  recipes,
} from '@slurm-operator/images';
import { type Architecture, type BuildOptions, writeOciLayout } from '@slurm-operator/sandbox';
import { debianPackages } from './debian-packages.ts';
import type { ReleasedImage } from './release-notes.ts';

export interface ImageBuild {
  readonly repository: string;
  readonly tag: string;
  readonly releaseTag: string;
  /** Its name in the layout and in file names. */
  readonly name: string;
  build(architecture: Architecture): Promise<{ path: string; sbom: string }>;
}

/** Every image of the project, in every version it is made in. */
export function releaseImages(version: string, options: BuildOptions): ImageBuild[] {
  const operator: ImageBuild = {
    repository: 'slurm-operator/operator',
    tag: version,
    releaseTag: version,
    name: `operator-${version}`,
    async build(architecture) {
      const { path, rootfs } = await buildOperatorImage({ ...options, architecture, version });
      return { path, sbom: await readFile(join(rootfs, operatorSbomPath), 'utf8') };
    },
  };
  const others = (Object.keys(recipes) as ImageName[]).flatMap((name) =>
    recipes[name].versions.map((slurm): ImageBuild => {
      const suite = recipes[name].suite(slurm);
      return {
        repository: `slurm-operator/${name}`,
        tag: slurm,
        releaseTag: `${slurm}-${version}`,
        name: `${name}-${slurm}`,
        async build(architecture) {
          const { path, rootfs } = await buildImage(name, slurm, { ...options, architecture });
          const packages = debianPackages(await readFile(join(rootfs, 'var/lib/dpkg/status'), 'utf8'));
          const purl = `pkg:generic/slurm-operator-${name}@${slurm}`;
          const subject = component('container', `slurm-operator/${name}`, slurm, purl);
          return {
            path,
            sbom: billOfMaterials(
              subject,
              packages.map((deb) => debianComponent(deb, suite)),
            ),
          };
        },
      };
    }),
  );
  return [operator, ...others];
}

/** Builds into `<directory>/images` (the layout) and `<directory>/sbom`. */
export async function buildReleaseImages(
  images: readonly ImageBuild[],
  architectures: readonly Architecture[],
  directory: string,
  { progress, signal }: BuildOptions,
): Promise<ReleasedImage[]> {
  await mkdir(join(directory, 'sbom'), { recursive: true });
  const archives = new Map<string, string[]>();
  for (const image of images) {
    const paths: string[] = [];
    for (const architecture of architectures) {
      progress?.(`${image.name} for ${architecture}`);
      const { path, sbom } = await image.build(architecture);
      paths.push(path);
      await writeFile(join(directory, 'sbom', `${image.name}-${architecture}.cdx.json`), sbom);
    }
    archives.set(image.name, paths);
  }
  progress?.('compressing layers');
  const written = await writeOciLayout(
    join(directory, 'images'),
    images.map(({ name }) => ({ name, archives: archives.get(name) ?? [] })),
    { signal },
  );
  return images.map(({ repository, tag, releaseTag, name }) => {
    const found = written.find((image) => image.name === name);
    if (found === undefined) throw new Error(`${name} is not in the layout`);
    return { repository, tag, releaseTag, digest: found.digest, platforms: found.platforms };
  });
}
