import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** SHA-256 of every file of a release, as `sha256sum --check` reads it. Blobs of the image layout are named by theirs already. */
export async function checksums(directory: string): Promise<string> {
  const lines: string[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = relative(directory, path);
    if (name.startsWith('images/blobs/') || name === 'checksums.txt') continue;
    const digest = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    lines.push(`${digest}  ${name}\n`);
  }
  return lines.toSorted((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join('');
}
