import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';

/** Gives a file its content in one step: whoever reads it meanwhile gets the old or the new, never a part. */
export async function replaceFile(path: string, content: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === content) return;
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, content);
  await rename(draft, path);
}
