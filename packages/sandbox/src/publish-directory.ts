import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type LockOptions, withLock } from './process/with-lock.ts';

/**
 * A directory that is either absent or complete: `build` fills a scratch directory, which then gets its name in one
 * step. An interrupted build leaves only scratch, which the next one removes. Of several builders of the same
 * directory one works and the others wait for it.
 */
export async function publishDirectory(
  path: string,
  build: (scratch: string) => Promise<void>,
  options: LockOptions = {},
): Promise<string> {
  if (await isComplete(path)) return path;
  return withLock(
    `${path}.lock`,
    async () => {
      if (await isComplete(path)) return path;
      const scratch = `${path}.building`;
      await rm(scratch, { recursive: true, force: true });
      await rm(path, { recursive: true, force: true });
      await mkdir(scratch, { recursive: true });
      await build(scratch);
      await writeFile(join(scratch, '.complete'), '');
      await mkdir(dirname(path), { recursive: true });
      await rename(scratch, path);
      return path;
    },
    options,
  );
}

async function isComplete(path: string): Promise<boolean> {
  return readFile(join(path, '.complete')).then(
    () => true,
    () => false,
  );
}

/** Replaces a file atomically: a reader gets the old or the new content, never a part. */
export async function replaceFile(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === content) return;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, content);
  await rename(draft, path);
}

/** A short name for content: the same JSON always gives the same key, whatever the order of its keys. */
export function contentKey(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('hex').slice(0, 16);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
