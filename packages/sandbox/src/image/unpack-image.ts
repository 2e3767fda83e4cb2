import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, normalize } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { cacheDirectory } from '../directories.ts';
import { ImageError, requireRoot } from '../errors.ts';
import { runCommand } from '../process/run-command.ts';
import type { Progress } from '../progress.ts';
import { contentKey, publishDirectory } from '../publish-directory.ts';
import { OverlayView } from '../sandbox/overlay-view.ts';
import type { ImageDescription, ImageLayer } from './read-image-tar.ts';

/**
 * The file system of an image as a directory, unpacked once: images with the same layers share it. Never write into
 * it; put an overlay on top.
 */
export async function unpackImage(
  image: ImageDescription,
  options: { readonly progress?: Progress; readonly signal?: AbortSignal } = {},
): Promise<string> {
  requireRoot(`Unpacking the image ${image.tags[0] ?? image.id}`);
  const key = contentKey(image.layers.map((layer) => layer.digest));
  const directory = await publishDirectory(
    join(cacheDirectory(), 'images', 'unpacked', key),
    async (scratch) => {
      options.progress?.(`unpacking image ${image.tags[0] ?? image.id}`);
      const root = join(scratch, 'root');
      await mkdir(root);
      for (const layer of image.layers) await applyLayer(image, layer, root, join(scratch, 'layer.tar'));
    },
    options,
  );
  return join(directory, 'root');
}

async function applyLayer(
  image: ImageDescription,
  layer: ImageLayer,
  root: string,
  file: string,
): Promise<void> {
  const digest = await extractLayer(image.path, layer, file);
  if (digest !== layer.digest)
    throw new ImageError(
      `Image archive ${image.path}: a layer is damaged (it is ${digest}, the configuration says ${layer.digest}).`,
    );
  const { stdout } = await runCommand(['tar', '--list', '--quoting-style=literal', '--file', file], {
    keepBytes: 1024 ** 3, // every name counts
  });
  const names = stdout.split('\n').filter((name) => name !== '');
  await applyWhiteouts(names, root);
  await refuseEscapes(names, root, image.path);
  await runCommand([
    'tar',
    '--extract',
    '--file',
    file,
    '--directory',
    root,
    '--exclude=.wh.*',
    '--numeric-owner',
    '--same-owner',
    '--same-permissions',
  ]);
  await rm(file);
}

/** Copies a layer out of the archive, unzipped, and says what it is. */
async function extractLayer(path: string, layer: ImageLayer, file: string): Promise<string> {
  const from = (length: number) =>
    createReadStream(path, { start: layer.offset, end: layer.offset + length - 1, highWaterMark: 1 << 20 });
  let magic = Buffer.alloc(0);
  for await (const chunk of from(Math.min(2, layer.size))) magic = Buffer.concat([magic, chunk as Buffer]);
  const hash = createHash('sha256');
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const zipped = magic[0] === 0x1f && magic[1] === 0x8b;
  if (zipped) await pipeline(from(layer.size), createGunzip(), hashing, createWriteStream(file));
  else await pipeline(from(layer.size), hashing, createWriteStream(file));
  return `sha256:${hash.digest('hex')}`;
}

/**
 * A layer says with `.wh.NAME` that a file of a lower layer is gone, with `.wh..wh..opq` that nothing of a lower
 * directory is left. Done before the layer's own files come, and through a view that no link can lead out of.
 */
async function applyWhiteouts(names: readonly string[], root: string): Promise<void> {
  const view = new OverlayView(root, []);
  for (const path of names.filter(isWhiteout)) {
    const directory = join(root, await view.resolve(dirname(`/${path}`)));
    const name = basename(path).slice('.wh.'.length);
    const gone: string[] = name === '.wh..opq' ? await readdir(directory).catch(() => []) : [name];
    for (const entry of gone) await rm(join(directory, entry), { recursive: true, force: true });
  }
}

/**
 * tar follows links that lower layers have left. A directory of this layer replaces such a link; a file below a link
 * without that directory would be written wherever the link leads.
 */
async function refuseEscapes(names: readonly string[], root: string, archive: string): Promise<void> {
  const own = new Set(names.filter((name) => name.endsWith('/')).map((name) => normalize(name.slice(0, -1))));
  const needed = new Set(names.filter((name) => !isWhiteout(name)).map((name) => dirname(normalize(name))));
  for (const directory of needed.difference(own)) {
    const real = await realpath(join(root, directory)).catch(() => root); // not there yet: no link either
    if (real !== root && !real.startsWith(`${root}/`))
      throw new ImageError(
        `Image archive ${archive}: a layer writes to ${directory}, a link that leads out of the image.`,
      );
  }
}

function isWhiteout(name: string): boolean {
  return /(^|\/)\.wh\.[^/]+$/.test(name);
}
