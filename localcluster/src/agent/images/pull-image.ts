/**
 * Pulls an image from a registry on this machine, with skopeo of Debian. Other registries are not asked: a cluster for tests takes
 * nothing from the internet, and what it needs is loaded.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CommandError,
  type ImageDescription,
  readImageTar,
  runCommand,
  scratchDirectory,
  unpackImage,
  unpackTools,
} from '@slurm-operator/sandbox';

export interface PulledImage {
  readonly description: ImageDescription;
  readonly rootfs: string;
}

/** The sources of skopeo for a full image name (`normalizeImageName`); undefined when its registry is not on this machine. */
export function loopbackSource(name: string): string | undefined {
  const host = (name.split('/')[0] ?? '').replace(/:\d+$/, '');
  if (host !== 'localhost' && !/^127\.\d+\.\d+\.\d+$/.test(host)) return undefined;
  const [tagged = '', digest] = name.split('@');
  // A digest says all; skopeo refuses a name with both.
  return `docker://${digest === undefined ? tagged : `${tagged.replace(/:[^/:]+$/, '')}@${digest}`}`;
}

/** The registry's own words where it refuses. */
export class PullError extends Error {
  override readonly name = 'PullError';
}

export async function pullImage(source: string): Promise<PulledImage> {
  const { path } = await unpackTools({ packages: ['skopeo'] });
  const scratch = scratchDirectory('pull');
  const tar = join(scratch, 'image.tar');
  try {
    await runCommand([
      path('skopeo'),
      '--insecure-policy',
      'copy',
      '--src-tls-verify=false',
      source,
      `docker-archive:${tar}:localhost/pulled:latest`,
    ]);
    const [description] = await readImageTar(tar);
    if (description === undefined) throw new PullError(`${source} holds no image`);
    return { description, rootfs: await unpackImage(description) };
  } catch (error) {
    if (error instanceof CommandError) throw new PullError(registryMessage(error.message), { cause: error });
    throw error;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** skopeo logs as `level=fatal msg="…"`. */
function registryMessage(text: string): string {
  const message = /msg="(?<text>(?:[^"\\]|\\.)*)"/.exec(text)?.groups?.['text'];
  return message === undefined ? text : message.replaceAll('\\"', '"');
}
