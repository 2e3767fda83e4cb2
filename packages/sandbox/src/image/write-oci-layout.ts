/** Image archives as one OCI image layout: a directory that clients of registries push as it is. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { ImageError, InvalidRequestError } from '../errors.ts';
import { type ImageDescription, readImageTar } from './read-image-tar.ts';
import { readMember } from './tar-archive.ts';

export interface OciImageRequest {
  /** Its name inside the layout, for example `slurmd-26.05`. */
  readonly name: string;
  /** One archive per architecture, each with one image of uncompressed layers ({@link writeImageTar}). */
  readonly archives: readonly string[];
}

export interface OciImage {
  readonly name: string;
  /** The digest of the index of all architectures. */
  readonly digest: string;
  /** The digest of each architecture's manifest. */
  readonly platforms: Readonly<Record<string, string>>;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string; readonly os: 'linux' };
  readonly annotations?: Readonly<Record<string, string>>;
}

const media = (kind: string): string => `application/vnd.oci.image.${kind}`;

/**
 * Writes the layout below `directory`. The same archives give the same digests: layers are compressed with one setting and without a date.
 * A layer that several images share is stored once.
 */
export async function writeOciLayout(
  directory: string,
  requests: readonly OciImageRequest[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<OciImage[]> {
  const blobs = join(directory, 'blobs/sha256');
  await mkdir(blobs, { recursive: true });
  const layers = new Map<string, Descriptor>();
  const images: OciImage[] = [];
  const entries: Descriptor[] = [];
  for (const { name, archives } of requests) {
    if (!/^[A-Za-z0-9._-]+$/.test(name))
      throw new InvalidRequestError(`"${name}" is no name for an image in a layout.`);
    const manifests: Descriptor[] = [];
    for (const path of archives) {
      options.signal?.throwIfAborted();
      manifests.push(await addImage(blobs, await onlyImage(path), layers, options.signal));
    }
    const index = await addJson(blobs, 'index.v1+json', {
      schemaVersion: 2,
      mediaType: media('index.v1+json'),
      manifests,
    });
    entries.push({ ...index, annotations: { 'org.opencontainers.image.ref.name': name } });
    images.push({
      name,
      digest: index.digest,
      platforms: Object.fromEntries(
        manifests.map(({ platform, digest }) => [platform?.architecture ?? '', digest]),
      ),
    });
  }
  await writeFile(join(directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  await writeFile(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: entries }));
  return images;
}

async function onlyImage(path: string): Promise<ImageDescription> {
  const [image, another] = await readImageTar(path);
  if (image === undefined || another !== undefined)
    throw new ImageError(`Image archive ${path} holds more than one image, or none.`);
  return image;
}

async function addImage(
  blobs: string,
  image: ImageDescription,
  known: Map<string, Descriptor>,
  signal: AbortSignal | undefined,
): Promise<Descriptor> {
  const layers: Descriptor[] = [];
  for (const layer of image.layers) {
    const found = known.get(layer.digest) ?? (await addLayer(blobs, image.path, layer, signal));
    known.set(layer.digest, found);
    layers.push(found);
  }
  await using archive = await open(image.path);
  const config = await addBlob(
    blobs,
    media('config.v1+json'),
    await readMember(archive, image.configuration),
  );
  const manifest = await addJson(blobs, 'manifest.v1+json', {
    schemaVersion: 2,
    mediaType: media('manifest.v1+json'),
    config,
    layers,
  });
  return { ...manifest, platform: { architecture: image.architecture ?? 'amd64', os: 'linux' } };
}

async function addLayer(
  blobs: string,
  archive: string,
  layer: ImageDescription['layers'][number],
  signal: AbortSignal | undefined,
): Promise<Descriptor> {
  const scratch = join(blobs, `../${randomUUID()}`);
  const plain = createHash('sha256');
  const zipped = createHash('sha256');
  await pipeline(
    createReadStream(archive, {
      start: layer.offset,
      end: layer.offset + layer.size - 1,
      highWaterMark: 1 << 20,
    }),
    hashing(plain),
    createGzip({ level: 6 }),
    hashing(zipped),
    createWriteStream(scratch),
    { signal },
  );
  const found = `sha256:${plain.digest('hex')}`;
  if (found !== layer.digest)
    throw new ImageError(
      `Image archive ${archive}: a layer is damaged (it is ${found}, the configuration says ${layer.digest}).`,
    );
  const hex = zipped.digest('hex');
  await rename(scratch, join(blobs, hex));
  const { size } = await stat(join(blobs, hex));
  return { mediaType: media('layer.v1.tar+gzip'), digest: `sha256:${hex}`, size };
}

function hashing(hash: ReturnType<typeof createHash>): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
}

const addJson = (blobs: string, kind: string, value: object): Promise<Descriptor> =>
  addBlob(blobs, media(kind), Buffer.from(JSON.stringify(value)));

async function addBlob(blobs: string, mediaType: string, bytes: Buffer): Promise<Descriptor> {
  const hex = createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(blobs, hex), bytes);
  return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
}
