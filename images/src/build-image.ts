import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Architecture,
  type BuildOptions,
  buildRootfs,
  cacheDirectory,
  type ImageConfig,
  type ImageDescription,
  InvalidRequestError,
  readImageTar,
  writeImageTar,
} from '@slurm-operator/sandbox';
import type { ImageRecipe } from './recipe.ts';
import { type ImageName, recipes } from './recipes.ts';

const here: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

export interface BuiltImage {
  /** For example `slurm-operator/slurmd:26.05`. */
  readonly tag: string;
  /** The archive, for `docker load`, `ctr images import` or a local cluster. */
  readonly path: string;
  readonly description: ImageDescription;
  /** The image's files as a directory. Shared; never write into it. */
  readonly rootfs: string;
}

export function imageTag(name: ImageName, version?: string): string {
  return `slurm-operator/${name}:${version ?? recipes[name].versions[0]}`;
}

/**
 * Builds an image without Docker, or finds it in the cache. Needs root. Default version: the recipe's first; default architecture: this
 * machine's. For the other one, scripts of packages run emulated.
 */
export async function buildImage(
  name: ImageName,
  version: string = recipes[name].versions[0] ?? '',
  { architecture = here, ...options }: BuildOptions & { readonly architecture?: Architecture } = {},
): Promise<BuiltImage> {
  const recipe: ImageRecipe = recipes[name];
  if (!recipe.versions.includes(version))
    throw new InvalidRequestError(
      `There is no image ${name} of version "${version}"; choose one of ${recipe.versions.join(', ')}.`,
    );
  const tag = imageTag(name, version);
  const rootfs = await buildRootfs(
    {
      // By content, not by the image's name: images with the same content share it.
      name: 'image',
      suite: recipe.suite(version),
      ...(architecture === here ? {} : { architecture }),
      alsoFrom: recipe.alsoFrom?.(version) ?? [],
      packages: recipe.packages,
      answers: recipe.answers ?? [],
      accounts: recipe.accounts,
      files: recipe.files,
      commands: recipe.commands ?? [],
      remove: recipe.remove ?? [],
    },
    options,
  );
  const key = createHash('sha256')
    .update(
      JSON.stringify([rootfs.key, recipe.config, tag, ...(architecture === here ? [] : [architecture])]),
    )
    .digest('hex');
  return packImage({
    file: `${name}-${version}-${key.slice(0, 16)}.tar`,
    rootfs: rootfs.path,
    tag,
    config: recipe.config,
    architecture,
    options,
  });
}

export interface PackedImage {
  /** The name of its archive in the cache; it names the content. */
  readonly file: string;
  readonly rootfs: string;
  readonly tag: string;
  readonly config: ImageConfig;
  readonly architecture: Architecture;
  readonly options: BuildOptions;
}

/** The archive of a finished root file system; one that the cache has is not written again. */
export async function packImage({
  file,
  rootfs,
  tag,
  config,
  architecture,
  options,
}: PackedImage): Promise<BuiltImage> {
  const path = join(cacheDirectory(), 'images', file);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) {
    options.progress?.(`packing ${tag}`);
    await writeImageTar({ rootfs, tag, config, output: path, architecture, signal: options.signal });
  }
  const [description] = await readImageTar(path);
  if (description === undefined) throw new InvalidRequestError(`${path} holds no image.`);
  return { tag, path, description, rootfs };
}
