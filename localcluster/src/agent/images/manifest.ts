/** What an unpacked image tar says about itself: docker-archive (manifest.json) or OCI layout (index.json). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LocalClusterError } from '../../errors.ts';
import type { ImageConfig } from '../bundle/oci-spec.ts';

export interface ImageManifest {
  readonly id: string;
  readonly names: readonly string[];
  readonly layers: readonly string[];
  readonly diffIds: readonly string[];
  readonly config: ImageConfig;
}

interface ConfigFile {
  readonly config?: ImageConfig;
  readonly rootfs?: { readonly diff_ids?: readonly string[] };
}

export async function readManifests(directory: string, tar: string): Promise<ImageManifest[]> {
  const docker = await readJson<{ Config: string; RepoTags?: string[]; Layers: string[] }[]>(directory, 'manifest.json');
  if (docker !== undefined)
    return Promise.all(
      docker.map(async ({ Config, RepoTags, Layers }) => describe(directory, tar, Config, RepoTags ?? [], Layers)),
    );
  const index = await readJson<{
    manifests: { digest: string; annotations?: Record<string, string> }[];
  }>(directory, 'index.json');
  if (index === undefined)
    throw new LocalClusterError(
      'BadImage',
      `${tar} is a tar file but no image: it has neither manifest.json nor index.json. Give a file written by \`docker save\` or by images/.`,
    );
  const blob = (digest: string) => join('blobs', ...digest.split(':'));
  return Promise.all(
    index.manifests.map(async ({ digest, annotations }) => {
      const manifest = await readJson<{ config: { digest: string }; layers: { digest: string }[] }>(directory, blob(digest));
      const name = annotations?.['io.containerd.image.name'] ?? annotations?.['org.opencontainers.image.ref.name'];
      return describe(
        directory,
        tar,
        blob(manifest?.config.digest ?? ''),
        name === undefined ? [] : [name],
        (manifest?.layers ?? []).map((layer) => blob(layer.digest)),
      );
    }),
  );
}

async function describe(
  directory: string,
  tar: string,
  configPath: string,
  names: readonly string[],
  layers: readonly string[],
): Promise<ImageManifest> {
  const file = await readJson<ConfigFile>(directory, configPath);
  const diffIds = file?.rootfs?.diff_ids ?? [];
  if (file === undefined || diffIds.length !== layers.length)
    throw new LocalClusterError('BadImage', `${tar} has an image whose configuration is missing or does not fit its layers: write it again.`);
  if (names.length === 0)
    throw new LocalClusterError('BadImage', `${tar} has an image without a name: give it a tag before saving it.`);
  const digest = configPath.replace(/^.*\//, '').replace(/\.json$/, '');
  const id = /^[0-9a-f]{64}$/.test(digest) ? digest : (diffIds[0] ?? '').replace('sha256:', '');
  return { id: `sha256:${id}`, names, layers, diffIds, config: file.config ?? {} };
}

async function readJson<T>(directory: string, path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, path), 'utf8')) as T;
  } catch {
    return undefined;
  }
}
