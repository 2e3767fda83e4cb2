/**
 * The images of a cluster: a list of names of its own over content that all clusters of the machine share. An image is there because
 * its tar was loaded, or because a pod asked for it and its registry is on this machine.
 */
import { type ImageConfig, readImageTar, unpackImage } from '@slurm-operator/sandbox';
import { explain, LocalClusterError } from '../../errors.ts';
import { loopbackSource, type PulledImage, pullImage } from './pull-image.ts';

export interface Image {
  readonly id: string;
  readonly names: readonly string[];
  readonly config: ImageConfig;
  readonly rootfs: string;
}

export class ImageStore {
  readonly #images = new Map<string, Image>();
  readonly #pulling = new Map<string, Promise<Image>>();
  readonly #pull: (source: string) => Promise<PulledImage>;

  constructor(pull: (source: string) => Promise<PulledImage> = pullImage) {
    this.#pull = pull;
  }

  find(name: string): Image | undefined {
    return this.#images.get(normalizeImageName(name) ?? '');
  }

  list(): Image[] {
    return [...new Set(this.#images.values())];
  }

  /**
   * Fetches an image from a registry on this machine; undefined when its name leads elsewhere. Containers that ask for the same image at
   * once share one pull. Rejects with what the registry answered.
   */
  async pull(text: string): Promise<Image | undefined> {
    const name = normalizeImageName(text) ?? '';
    const source = loopbackSource(name);
    if (source === undefined) return undefined;
    const pulling = this.#pulling.get(name) ?? this.#fetch(name, source);
    this.#pulling.set(name, pulling);
    try {
      return await pulling;
    } finally {
      this.#pulling.delete(name);
    }
  }

  async #fetch(name: string, source: string): Promise<Image> {
    const { description, rootfs } = await this.#pull(source);
    const image = { id: description.id, names: [name], config: description.config, rootfs };
    this.#images.set(name, image);
    return image;
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

/** Image names as people write them, in the one full form: host, path, tag or digest. */
const pattern =
  /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::\d+)?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

/** The host that a name without one means. */
const defaultHost = ['docker', 'io'].join('.');

/** Undefined when the text is no image name at all. */
export function normalizeImageName(text: string): string | undefined {
  if (!pattern.test(text)) return undefined;
  const digest = text.includes('@') ? text.slice(text.indexOf('@')) : '';
  const bare = digest === '' ? text : text.slice(0, -digest.length);
  const tagAt = bare.indexOf(':', bare.lastIndexOf('/') + 1);
  const tag = tagAt < 0 ? (digest === '' ? ':latest' : '') : bare.slice(tagAt);
  const path = tagAt < 0 ? bare : bare.slice(0, tagAt);
  const first = path.split('/')[0] ?? '';
  const hasHost = path.includes('/') && (first.includes('.') || first.includes(':') || first === 'localhost');
  const full = hasHost ? path : `${defaultHost}/${path.includes('/') ? path : `library/${path}`}`;
  return full + tag + digest;
}
