/**
 * Writes a set of files so that a reader sees all of the old ones or all of the new ones: they go into a fresh hidden
 * directory, and one rename of the `..data` link switches over. This is the layout programs that watch mounted
 * configuration know, down to the names.
 */
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Payload } from './payload.ts';

const dataLink = '..data';

export interface Ownership {
  /** Group that owns the files and may read them (the pod's fsGroup). */
  readonly gid?: number | undefined;
}

/** Returns whether anything changed. `stamp` names the new hidden directory and must be new each time. */
export async function writeAtomically(
  directory: string,
  payload: Payload,
  stamp: string,
  ownership: Ownership = {},
): Promise<boolean> {
  await mkdir(directory, { recursive: true });
  const current = await readlink(join(directory, dataLink)).catch(() => undefined);
  if (current !== undefined && (await holds(join(directory, current), payload))) return false;

  const fresh = `..${stamp}`;
  for (const [path, file] of payload) {
    const target = join(directory, fresh, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, file.bytes);
    // The group may always read what the pod was given: that is what fsGroup is for.
    await chmod(
      target,
      ownership.gid === undefined ? file.mode : file.mode | 0o040 | ((file.mode & 0o200) >> 3),
    );
    if (ownership.gid !== undefined) await chown(target, 0, ownership.gid);
  }
  await mkdir(join(directory, fresh), { recursive: true });
  await symlink(fresh, join(directory, `${dataLink}_tmp`));
  await rename(join(directory, `${dataLink}_tmp`), join(directory, dataLink));

  const tops = new Set([...payload.keys()].map((path) => path.split('/')[0] ?? path));
  for (const top of tops) {
    const link = join(directory, top);
    if ((await lstat(link).catch(() => undefined)) === undefined) await symlink(join(dataLink, top), link);
  }
  for (const entry of await readdir(directory)) {
    if (entry.startsWith('..')) continue;
    if (!tops.has(entry)) await rm(join(directory, entry), { force: true });
  }
  if (current !== undefined) await rm(join(directory, current), { recursive: true, force: true });
  return true;
}

async function holds(directory: string, payload: Payload): Promise<boolean> {
  const present = new Set<string>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []))
    if (entry.isFile()) present.add(join(entry.parentPath, entry.name));
  if (present.size !== payload.size) return false;
  for (const [path, file] of payload) {
    const full = join(directory, path);
    if (!present.has(full)) return false;
    if (!(await readFile(full)).equals(file.bytes)) return false;
  }
  return true;
}
