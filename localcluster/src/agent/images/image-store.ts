/**
 * The images of a cluster. A docker-archive or OCI-layout tar is unpacked once into a plain directory, shared by all
 * clusters of the machine and kept in the cache; containers put an overlay on top. Names belong to one cluster.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { LocalClusterError } from '../../errors.ts';
import { run } from '../../machine/run.ts';
import type { ImageConfig } from '../bundle/oci-spec.ts';
import { normalizeImageName } from './image-name.ts';
import { type ImageManifest, readManifests } from './manifest.ts';

export interface Image {
  readonly id: string;
  readonly names: readonly string[];
  readonly config: ImageConfig;
  readonly rootfs: string;
}

export class ImageStore {
  readonly #directory: string;
  readonly #index: string;
  readonly #images = new Map<string, Image>();

  /** `directory` is shared and holds the content; `index` is this cluster's list of names. */
  constructor(directory: string, index: string) {
    this.#directory = directory;
    this.#index = index;
  }

  /** Takes up the names that an earlier run of the cluster left. */
  async open(): Promise<void> {
    const text = await readFile(this.#index, 'utf8').catch(() => '[]');
    for (const image of JSON.parse(text) as Image[])
      if (await stat(image.rootfs).catch(() => undefined)) this.#remember(image);
  }

  find(name: string): Image | undefined {
    return this.#images.get(normalizeImageName(name) ?? '');
  }

  list(): Image[] {
    return [...new Set(this.#images.values())];
  }

  /** Loads every image in the tar; answers their names. */
  async load(tar: string): Promise<string[]> {
    const scratch = join(this.#directory, `loading-${randomUUID()}`);
    await mkdir(scratch, { recursive: true });
    try {
      await run(['tar', '-xf', tar, '-C', scratch, '--no-same-owner'], { timeoutMs: 300_000 }).catch((cause: unknown) => {
        throw new LocalClusterError(
          'BadImage',
          `cannot read ${tar} as an image: it is no tar file. Give a file written by \`docker save\` or by images/.`,
          { cause },
        );
      });
      const manifests = await readManifests(scratch, tar);
      const names: string[] = [];
      for (const manifest of manifests) {
        this.#remember(await this.#unpack(scratch, manifest, tar));
        names.push(...manifest.names);
      }
      await writeFile(this.#index, JSON.stringify(this.list()));
      return names;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  #remember(image: Image): void {
    for (const name of image.names) {
      const normal = normalizeImageName(name);
      if (normal !== undefined) this.#images.set(normal, image);
    }
  }

  async #unpack(scratch: string, manifest: ImageManifest, tar: string): Promise<Image> {
    const key = createHash('sha256').update(manifest.diffIds.join('\n')).digest('hex').slice(0, 32);
    const rootfs = join(this.#directory, key);
    const image = { id: manifest.id, names: manifest.names, config: manifest.config, rootfs };
    if ((await stat(rootfs).catch(() => undefined)) !== undefined) return image;
    const fresh = `${scratch}-root`;
    try {
      await mkdir(fresh);
      for (const [index, layer] of manifest.layers.entries()) {
        const path = join(scratch, layer);
        await verify(path, manifest.diffIds[index] ?? '', tar);
        await applyLayer(path, fresh);
      }
      await rename(fresh, rootfs).catch(async (error: unknown) => {
        // Someone else unpacked the same content meanwhile: theirs is as good.
        if ((await stat(rootfs).catch(() => undefined)) === undefined) throw error;
      });
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
    return image;
  }
}

async function verify(layer: string, diffId: string, tar: string): Promise<void> {
  const hash = createHash('sha256');
  const magic = await readFirst(layer);
  // A compressed layer is checked by tar itself; the recorded digest is of the uncompressed content.
  if (magic === 0x1f8b) return;
  await pipeline(createReadStream(layer), hash).catch((cause: unknown) => {
    throw new LocalClusterError('BadImage', `${tar} names a layer that is not in it: it is incomplete, write it again.`, { cause });
  });
  if (`sha256:${hash.digest('hex')}` !== diffId)
    throw new LocalClusterError('BadImage', `a layer of ${tar} does not have the digest its image says: it is damaged, write it again.`);
}

async function readFirst(path: string): Promise<number> {
  for await (const chunk of createReadStream(path, { start: 0, end: 1 }).on('error', () => {}))
    return (chunk as Buffer).length === 2 ? (chunk as Buffer).readUInt16BE(0) : 0;
  return 0;
}

/** Lays one layer over what is there: removals first (`.wh.` files), then the content. */
async function applyLayer(layer: string, root: string): Promise<void> {
  const { stdout } = await run(['tar', '-tf', layer], { timeoutMs: 120_000 });
  for (const entry of stdout.split('\n')) {
    const at = entry.lastIndexOf('/') + 1;
    const base = entry.slice(at);
    if (!base.startsWith('.wh.')) continue;
    const folder = join(root, entry.slice(0, at));
    if (base === '.wh..wh..opq') {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
    } else await rm(join(folder, base.slice(4)), { recursive: true, force: true });
  }
  await run(['tar', '-xpf', layer, '-C', root, '--numeric-owner', '--exclude=.wh.*'], { timeoutMs: 300_000 });
}
