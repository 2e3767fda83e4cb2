import { chmod, lchown, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { InvalidRequestError } from '../errors.ts';

/** A file, directory or symbolic link to put into a root. */
export interface RootFile {
  /** Absolute path inside the root. */
  readonly path: string;
  readonly content?: string;
  readonly linkTo?: string;
  readonly directory?: boolean;
  /** Default: 0644 for files, 0755 for directories. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
}

/** Writes files into a root, making parent directories. Paths cannot leave the root. */
export async function writeRootFiles(root: string, files: readonly RootFile[]): Promise<void> {
  for (const file of files) {
    if (!file.path.startsWith('/') || file.path.split('/').includes('..'))
      throw new InvalidRequestError(`file path "${file.path}" must be absolute and without "..".`);
    const target = join(root, normalize(file.path));
    await mkdir(dirname(target), { recursive: true });
    if (file.directory === true) {
      await mkdir(target, { recursive: true });
    } else {
      await rm(target, { force: true });
      if (file.linkTo !== undefined) await symlink(file.linkTo, target);
      else await writeFile(target, file.content ?? '');
    }
    if (file.uid !== undefined || file.gid !== undefined) await lchown(target, file.uid ?? 0, file.gid ?? 0);
    if (file.linkTo === undefined)
      await chmod(target, file.mode ?? (file.directory === true ? 0o755 : 0o644));
  }
}
