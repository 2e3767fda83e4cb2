import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { ImageError } from '../errors.ts';
import { type FormatConfig, fromFormat, type ImageConfig } from './image-config.ts';
import { listTar, readMember, type TarMember } from './tar-archive.ts';

export interface ImageLayer extends TarMember {
  /** The digest of the unpacked layer, as the configuration states it. */
  readonly digest: string;
}

export interface ImageDescription {
  /** The archive. */
  readonly path: string;
  /** The digest of its configuration, `sha256:…`. */
  readonly id: string;
  readonly tags: readonly string[];
  readonly config: ImageConfig;
  /** Where the configuration is in the archive, as it was written. */
  readonly configuration: TarMember;
  /** The machine it is for, where it says so. */
  readonly architecture: string | undefined;
  /** Lowest first, with their place in the archive. */
  readonly layers: readonly ImageLayer[];
}

interface Manifest {
  readonly Config: string;
  readonly RepoTags?: readonly string[] | null;
  readonly Layers: readonly string[];
}

interface Configuration {
  readonly architecture?: string;
  readonly config?: FormatConfig;
  readonly rootfs?: { readonly diff_ids?: readonly string[] };
}

/** Reads what images a docker-archive holds (`docker save`, `podman save`, {@link writeImageTar}). */
export async function readImageTar(path: string): Promise<ImageDescription[]> {
  try {
    await using archive = await open(path, 'r').catch((cause: Error) => {
      throw new ImageError(`it cannot be opened (${cause.message})`, { cause });
    });
    const members = await listTar(archive);
    const find = (name: string, what: string) => {
      const member = members.get(name);
      if (member === undefined) throw new ImageError(`it lacks ${name}, ${what}`);
      return member;
    };
    const json = async (name: string, what: string) => {
      const bytes = await readMember(archive, find(name, what));
      try {
        return { bytes, value: JSON.parse(bytes.toString('utf8')) as unknown };
      } catch (cause) {
        throw new ImageError(`its ${name} is not JSON`, { cause });
      }
    };
    const noImage = 'so it is no image archive: make one with "docker save"';
    const manifests = (await json('manifest.json', noImage)).value as Manifest[];
    if (!Array.isArray(manifests) || manifests.length === 0)
      throw new ImageError('its manifest.json lists no image');
    const images: ImageDescription[] = [];
    for (const manifest of manifests) {
      if (typeof manifest.Config !== 'string' || !Array.isArray(manifest.Layers))
        throw new ImageError('its manifest.json names no Config and Layers');
      const { bytes, value } = await json(manifest.Config, 'the configuration that manifest.json names');
      const configuration = value as Configuration;
      const digests = configuration.rootfs?.diff_ids ?? [];
      if (digests.length !== manifest.Layers.length)
        throw new ImageError(
          `it has ${manifest.Layers.length} layers, its configuration lists ${digests.length}`,
        );
      images.push({
        path,
        id: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
        tags: manifest.RepoTags ?? [],
        config: fromFormat(configuration.config ?? {}),
        configuration: find(manifest.Config, 'the configuration that manifest.json names'),
        architecture: configuration.architecture,
        layers: manifest.Layers.map((name, index) => ({
          ...find(name, 'a layer that manifest.json names'),
          digest: digests[index] ?? '',
        })),
      });
    }
    return images;
  } catch (error) {
    if (error instanceof ImageError)
      throw new ImageError(`Image archive ${path}: ${error.message}.`, { cause: error });
    throw error;
  }
}
