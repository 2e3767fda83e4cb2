import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InvalidRequestError, requireRoot } from '../errors.ts';
import { runCommand } from '../process/run-command.ts';
import { type ImageConfig, toFormat } from './image-config.ts';
import { writeTar } from './tar-archive.ts';

export interface ImageTarRequest {
  /** The directory that becomes the image's file system. */
  readonly rootfs: string;
  /** For example `slurm-operator/slurmd:26.05`. */
  readonly tag: string;
  readonly config: ImageConfig;
  /** Where the archive is written; it appears there complete or not at all. */
  readonly output: string;
  /** The machine the programs are for, in the image format's words. Default: this one. */
  readonly architecture?: 'amd64' | 'arm64';
  readonly signal?: AbortSignal;
}

export interface ImageTar {
  readonly path: string;
  readonly tag: string;
  /** The digest of the image's configuration, `sha256:…`. */
  readonly id: string;
  /** The digest of its one layer. */
  readonly layer: string;
}

/** No file of an image is younger than this (2026-01-01): packages keep their dates, what the build wrote has none. */
const newest = '@1767225600';
const created = '2026-01-01T00:00:00Z';

/**
 * Packs a directory as an image archive (docker-archive) that container runtimes can import. The same directory and
 * configuration give the same bytes.
 */
export async function writeImageTar(request: ImageTarRequest): Promise<ImageTar> {
  requireRoot(`Packing the image ${request.tag}`);
  if (!/^[a-z0-9][a-z0-9._/-]*:[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(request.tag))
    throw new InvalidRequestError(`image tag "${request.tag}" is not like "name:version".`);
  await mkdir(dirname(request.output), { recursive: true });
  const scratch = `${request.output}.${randomUUID()}`;
  const layerFile = `${scratch}.layer`;
  try {
    await runCommand(
      [
        'tar',
        '--create',
        '--file',
        layerFile,
        '--directory',
        request.rootfs,
        '--format=gnu',
        '--sort=name',
        '--numeric-owner',
        '--mtime',
        newest,
        '--clamp-mtime',
        '--one-file-system',
        '.',
      ],
      { signal: request.signal },
    );
    const layer = await digestOfFile(layerFile);
    const config = Buffer.from(
      JSON.stringify({
        created,
        architecture: request.architecture ?? (process.arch === 'arm64' ? 'arm64' : 'amd64'),
        os: 'linux',
        config: toFormat(request.config),
        rootfs: { type: 'layers', diff_ids: [layer] },
        history: [{ created, created_by: 'slurm-operator' }],
      }),
    );
    const id = createHash('sha256').update(config).digest('hex');
    const names = { config: `${id}.json`, layer: `${layer.slice('sha256:'.length)}.tar` };
    const manifest = [{ Config: names.config, RepoTags: [request.tag], Layers: [names.layer] }];
    await writeTar(
      scratch,
      new Map([
        ['manifest.json', { bytes: Buffer.from(JSON.stringify(manifest)) }],
        [names.config, { bytes: config }],
        [names.layer, { file: layerFile }],
      ]),
    );
    await rename(scratch, request.output);
    return { path: request.output, tag: request.tag, id: `sha256:${id}`, layer };
  } finally {
    await rm(scratch, { force: true });
    await rm(layerFile, { force: true });
  }
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  return `sha256:${hash.digest('hex')}`;
}
