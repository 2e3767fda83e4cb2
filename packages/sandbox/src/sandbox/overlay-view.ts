import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { InvalidRequestError } from '../errors.ts';
import type { RootFile } from '../rootfs/root-files.ts';

/**
 * A root as a box will see it, before it is mounted: an own layer (`upper`) above shared ones. Links are followed
 * inside the root only, so that an absolute link of an image can never lead to a file of the machine.
 */
export class OverlayView {
  readonly upper: string;
  readonly lowers: readonly string[];

  constructor(upper: string, lowers: readonly string[]) {
    this.upper = upper;
    this.lowers = lowers;
  }

  /** The path after following every link, still inside the root. Parts that do not exist stay as they are. */
  async resolve(path: string): Promise<string> {
    if (!path.startsWith('/')) throw new InvalidRequestError(`path "${path}" must be absolute.`);
    let waiting = normalize(path).split('/').filter(Boolean);
    let resolved = '/';
    for (let links = 0; waiting.length > 0; ) {
      const [part = '', ...rest] = waiting;
      waiting = rest;
      if (part === '..') {
        resolved = dirname(resolved);
        continue;
      }
      const next = join(resolved, part);
      const target = await this.#linkTarget(next);
      if (target === undefined) {
        resolved = next;
        continue;
      }
      if (++links > 40) throw new InvalidRequestError(`path "${path}" runs through a loop of links.`);
      waiting = [...target.split('/').filter((name) => name !== '' && name !== '.'), ...waiting];
      if (target.startsWith('/')) resolved = '/';
    }
    return resolved;
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#layerOf(await this.resolve(path))) !== undefined;
  }

  async readText(path: string): Promise<string | undefined> {
    const resolved = await this.resolve(path);
    const layer = await this.#layerOf(resolved);
    return layer === undefined ? undefined : readFile(join(layer, resolved), 'utf8');
  }

  /** Makes a directory (and its parents) in the own layer, with the owners and modes it has below. */
  async ensureDirectory(path: string): Promise<string> {
    const resolved = await this.resolve(path);
    let at = '/';
    for (const part of resolved.split('/').filter(Boolean)) {
      at = join(at, part);
      const own = join(this.upper, at);
      if ((await stats(own)) !== undefined) continue;
      const below = await this.#layerOf(at);
      await mkdir(own);
      if (below === undefined) continue;
      // A directory of the own layer hides the attributes of the shared one: carry them over.
      const { mode, uid, gid } = await lstat(join(below, at));
      await chown(own, uid, gid);
      await chmod(own, mode & 0o7777);
    }
    return resolved;
  }

  /** An empty file or directory for something to be mounted on. */
  async ensureMountPoint(path: string, kind: 'file' | 'directory'): Promise<string> {
    const resolved = await this.resolve(path);
    if (await this.#layerOf(resolved)) return resolved;
    if (kind === 'directory') return this.ensureDirectory(resolved);
    await this.ensureDirectory(dirname(resolved));
    await writeFile(join(this.upper, resolved), '');
    return resolved;
  }

  async write(file: RootFile): Promise<void> {
    if (file.directory === true) {
      const own = join(this.upper, await this.ensureDirectory(file.path));
      if (file.uid !== undefined || file.gid !== undefined) await chown(own, file.uid ?? 0, file.gid ?? 0);
      if (file.mode !== undefined) await chmod(own, file.mode);
      return;
    }
    const parent = await this.ensureDirectory(dirname(normalize(file.path)));
    const own = join(this.upper, parent, normalize(file.path).split('/').pop() ?? '');
    await rm(own, { force: true });
    if (file.linkTo !== undefined) await symlink(file.linkTo, own);
    else await writeFile(own, file.content ?? '');
    await lchown(own, file.uid ?? 0, file.gid ?? 0);
    if (file.linkTo === undefined) await chmod(own, file.mode ?? 0o644);
  }

  async #layerOf(path: string): Promise<string | undefined> {
    for (const layer of [this.upper, ...this.lowers])
      if ((await stats(join(layer, path))) !== undefined) return layer;
    return undefined;
  }

  async #linkTarget(path: string): Promise<string | undefined> {
    const layer = await this.#layerOf(path);
    if (layer === undefined || !(await lstat(join(layer, path))).isSymbolicLink()) return undefined;
    return readlink(join(layer, path));
  }
}

async function stats(path: string) {
  return lstat(path).catch(() => undefined);
}
