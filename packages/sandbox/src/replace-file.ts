import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** Replaces a file atomically: a reader gets the old or the new content, never a part. */
export async function replaceFile(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === content) return;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, content);
  await rename(draft, path);
}
