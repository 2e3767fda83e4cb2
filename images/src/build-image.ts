import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BuildOptions,
  buildRootfs,
  cacheDirectory,
  type ImageDescription,
  readImageTar,
  writeImageTar,
} from '@slurm-operator/sandbox';
import type { ImageRecipe } from './recipe.ts';
import { type ImageName, recipes } from './recipes.ts';
import { type SlurmVersion, suiteOf } from './slurm-version.ts';

export interface BuiltImage {
  /** For example `slurm-operator/slurmd:26.05`. */
  readonly tag: string;
  /** The archive, for `docker load`, `ctr images import` or a local cluster. */
  readonly path: string;
  readonly description: ImageDescription;
  /** The image's files as a directory. Shared; never write into it. */
  readonly rootfs: string;
}

export function imageTag(name: ImageName, version: SlurmVersion): string {
  return `slurm-operator/${name}:${version}`;
}

/** Builds an image without Docker, or finds it in the cache. Needs root. */
export async function buildImage(
  name: ImageName,
  version: SlurmVersion,
  options: BuildOptions = {},
): Promise<BuiltImage> {
  const recipe: ImageRecipe = recipes[name];
  const tag = imageTag(name, version);
  const packages = recipe.packages(version);
  const rootfs = await buildRootfs(
    {
      // The content's name, not the image's: images with the same content share it.
      name: `image-${version}`,
      suite: suiteOf[version],
      packages,
      accounts: recipe.accounts,
      files: recipe.files,
      remove: recipe.remove ?? [],
    },
    options,
  );
  const key = createHash('sha256')
    .update(JSON.stringify([rootfs.key, recipe.config, tag]))
    .digest('hex');
  const path = join(cacheDirectory(), 'images', `${name}-${version}-${key.slice(0, 16)}.tar`);
  const exists = await stat(path).catch(() => undefined);
  if (exists === undefined) {
    options.progress?.(`packing ${tag}`);
    await writeImageTar({
      rootfs: rootfs.path,
      tag,
      config: recipe.config,
      output: path,
      signal: options.signal,
    });
  }
  const [description] = await readImageTar(path);
  if (description === undefined) throw new Error(`${path} holds no image`);
  return { tag, path, description, rootfs: rootfs.path };
}
