/**
 * The images of a cluster: a list of names of its own over content that all clusters of the machine share. There is no
 * registry; an image is there because its tar was loaded.
 */
import { type ImageConfig, readImageTar, unpackImage } from '@slurm-operator/sandbox';
import { explain, LocalClusterError } from '../../errors.ts';
import { normalizeImageName } from './image-name.ts';

export interface Image {
  readonly id: string;
  readonly names: readonly string[];
  readonly config: ImageConfig;
  readonly rootfs: string;
}

export class ImageStore {
  readonly #images = new Map<string, Image>();

  find(name: string): Image | undefined {
    return this.#images.get(normalizeImageName(name) ?? '');
  }

  list(): Image[] {
    return [...new Set(this.#images.values())];
  }

  /** Loads every image in the tar; answers their names. */
  async load(tar: string): Promise<string[]> {
    try {
      const names: string[] = [];
      for (const description of await readImageTar(tar)) {
        if (description.tags.length === 0)
          throw new LocalClusterError(
            'BadImage',
            `${tar} has an image without a name: give it a tag before saving it.`,
          );
        const rootfs = await unpackImage(description);
        const image = { id: description.id, names: description.tags, config: description.config, rootfs };
        for (const tag of description.tags) this.#images.set(normalizeImageName(tag) ?? tag, image);
        names.push(...description.tags);
      }
      return names;
    } catch (error) {
      if (error instanceof LocalClusterError) throw error;
      throw new LocalClusterError('BadImage', explain(error), { cause: error });
    }
  }
}
